//! The addresses of services by their ports, and how they are shown to people:
//! without a password.

use lockwork_servers::{azurite::setup as azure, login, redis::setup as servers};

/// PostgreSQL, or what speaks like it.
pub(crate) fn postgres(ports: &[u16]) -> String {
    login::url(first(ports))
}

/// A Redis, for the user who may do the least.
pub(crate) fn redis(ports: &[u16]) -> String {
    servers::url(first(ports))
}

/// A Redis for everybody.
pub(crate) fn open_redis(ports: &[u16]) -> String {
    format!("redis://127.0.0.1:{}", first(ports))
}

/// An Azurite, for who has the key that everybody knows.
pub(crate) fn azurite(ports: &[u16]) -> String {
    azure::url(first(ports))
}

/// There is one, where a group is one service.
fn first(ports: &[u16]) -> u16 {
    ports.first().copied().unwrap_or_default()
}

/// The address with `***` for every password in it. An address may come from
/// the environment, so a password with a stray `/` or `@` is hidden as well.
pub(crate) fn masked(url: &str) -> String {
    let (address, options) = url.split_at(url.find('?').unwrap_or(url.len()));
    format!("{}{}", without_userinfo(address), without_option(options))
}

fn without_userinfo(address: &str) -> String {
    let begin = address.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = address.split_at(begin);
    match rest.rsplit_once('@') {
        Some((userinfo, host)) => match userinfo.split_once(':') {
            Some((user, _)) => format!("{scheme}{user}:***@{host}"),
            None => address.to_owned(),
        },
        None => address.to_owned(),
    }
}

fn without_option(options: &str) -> String {
    let hidden = |option: &str| match option.split_once('=') {
        Some((name, _)) if name.trim_start_matches('?').contains("password") => {
            format!("{name}=***")
        }
        _ => option.to_owned(),
    };
    let options: Vec<String> = options.split('&').map(hidden).collect();
    options.join("&")
}

#[cfg(test)]
mod tests {
    use lockwork_servers::login::{self, PASSWORD, USER};

    use super::*;

    #[test]
    fn a_masked_address_of_ours_has_no_password() {
        let shown = masked(&login::url(20001));
        assert_eq!(shown, "postgres://lockwork:***@127.0.0.1:20001/postgres");
    }

    #[test]
    fn an_odd_password_is_hidden_whole() {
        assert_eq!(masked("redis://:a/b@c@host/0"), "redis://:***@host/0");
        assert_eq!(
            masked("postgres:///db?user=me&password=secret&host=/run"),
            "postgres:///db?user=me&password=***&host=/run"
        );
        assert_eq!(masked("redis://h?password=x"), "redis://h?password=***");
    }

    #[test]
    fn an_address_without_a_password_stays_as_it_is() {
        for url in [
            "postgres://me@host/db?sslmode=disable",
            "postgres:///db",
            "x",
        ] {
            assert_eq!(masked(url), url);
        }
    }

    #[test]
    fn docker_compose_has_the_same_user_and_password() {
        let file = include_str!("../../../docker-compose.yml");
        assert!(file.contains(&format!("POSTGRES_USER: {USER}\n")));
        assert!(file.contains(&format!("POSTGRES_PASSWORD: {PASSWORD}\n")));
        assert!(file.contains(&format!("DB_USER: {USER}\n")));
        assert!(file.contains(&format!("DB_PASSWORD: {PASSWORD}\n")));
    }
}
