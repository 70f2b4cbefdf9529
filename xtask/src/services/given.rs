//! Whether an address in the environment names a server that somebody else
//! looks after. Then it is used and nothing is started for it.
//!
//! What `up` printed is in the environment too, once the operator has
//! evaluated it. Such an address is no reason to start nothing: not while the
//! server is ours to keep up, and not after `down` has ended it.

use super::list::Service;

/// The address that is set, unless it is `ours`, or is of our making and
/// nobody answers there any more.
pub(crate) fn choose(service: &Service, set: String, ours: Option<&str>) -> Option<String> {
    if set.is_empty() || ours == Some(set.as_str()) {
        return None;
    }
    match made_here(service, &set) {
        Some(ports) if !ports.iter().all(|port| (service.kind.ready)(*port)) => None,
        _ => Some(set),
    }
}

/// The ports in an address like those that `up` prints, another checkout's too.
fn made_here(service: &Service, url: &str) -> Option<Vec<u16>> {
    let digits = |tail: &str| {
        tail.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    let ports: Vec<u16> = url.split(':').filter_map(digits).collect();
    ((service.url)(&ports) == url).then_some(ports)
}

#[cfg(test)]
mod tests {
    use super::super::list::{SERVICES, group};
    use super::*;

    fn given(set: &str, ours: Option<&str>) -> Option<String> {
        choose(&SERVICES[0], set.to_owned(), ours)
    }

    #[test]
    fn an_address_of_somebody_else_is_given() {
        let url = "postgres://me@db.example:5432/app";
        assert_eq!(given(url, None).as_deref(), Some(url));
        assert_eq!(given(url, Some("postgres://ours")).as_deref(), Some(url));
    }

    #[test]
    fn an_empty_variable_or_our_own_address_gives_nothing() {
        assert_eq!(given("", None), None);
        assert_eq!(given("postgres://ours", Some("postgres://ours")), None);
    }

    #[test]
    fn all_ports_of_an_address_are_found() {
        for service in SERVICES {
            let ports: Vec<u16> = (20_001..).take(group(service).count()).collect();
            let url = (service.url)(&ports);
            assert_eq!(made_here(service, &url), Some(ports));
        }
    }

    #[test]
    fn an_address_that_up_once_printed_is_stale_when_nobody_answers() {
        // Nobody listens on the port of tcpmux.
        assert_eq!(given(&(SERVICES[0].url)(&[1]), None), None);
    }
}
