//! Choosing a port for a server: one that nobody listens on, that the system
//! does not hand out to outgoing connections meanwhile, and that no other
//! server of a test was given: two that start at the same moment on one port
//! are one to whoever asks whether his is ready, and a server that is down for
//! a while wants its own port back.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::problem::{Outcome, Problem};

/// Below the ports for outgoing connections, which begin at 32768 on Linux
/// (`ip_local_port_range` in ip(7)), and above those of well-known servers.
const RANGE: Range<u16> = 20_000..30_000;

/// How far apart processes with neighbouring numbers begin to look.
const APART: u32 = 101;

/// The port it had, so that addresses stay true, or else a free one.
pub fn keep_or_choose(had: Option<u16>) -> Outcome<u16> {
    static CHOSEN: AtomicU32 = AtomicU32::new(0);
    // Processes that choose at the same moment should not meet, nor should two
    // servers of one process, of which neither listens yet.
    let begin = std::process::id().wrapping_mul(APART);
    let begin = begin.wrapping_add(CHOSEN.fetch_add(1, Relaxed));
    had.filter(|port| reserve(*port) != Reserved::ByOthers && is_free(*port))
        .or_else(|| {
            choose(begin, |port| {
                reserve(port) == Reserved::Now && is_free(port)
            })
        })
        .ok_or_else(|| {
            Problem::new(format!(
                "Every port from {} to {} is taken; end some of the servers on this machine.",
                RANGE.start, RANGE.end
            ))
        })
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Whose a port is.
#[derive(PartialEq, Eq)]
enum Reserved {
    /// Ours, from now on until this process ends.
    Now,
    /// Ours before.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    Already,
    /// Another process has it.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    ByOthers,
}

/// Makes the port ours, if it is nobody's: by a name that one process of a network can have at a time and that the
/// system takes back by itself, an abstract one of unix(7).
#[cfg(target_os = "linux")]
fn reserve(port: u16) -> Reserved {
    use std::collections::HashMap;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    use std::sync::{Mutex, PoisonError};

    static OURS: Mutex<Option<HashMap<u16, UnixListener>>> = Mutex::new(None);
    let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = ours.get_or_insert_default();
    if ours.contains_key(&port) {
        return Reserved::Already;
    }
    let name = SocketAddr::from_abstract_name(format!("lockwork-port-{port}"));
    match name.and_then(|name| UnixListener::bind_addr(&name)) {
        Ok(bound) => {
            ours.insert(port, bound);
            Reserved::Now
        }
        Err(_) => Reserved::ByOthers,
    }
}

/// Elsewhere those that start at one moment are kept apart by where they begin to look.
#[cfg(not(target_os = "linux"))]
fn reserve(_port: u16) -> Reserved {
    Reserved::Now
}

/// The first free port of the range, looked for from somewhere in it, all round.
fn choose(begin: u32, is_free: impl Fn(u16) -> bool) -> Option<u16> {
    let begin = begin as usize % RANGE.len();
    let mut round = RANGE.cycle().skip(begin).take(RANGE.len());
    round.find(|port| is_free(*port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_kept() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = listener.local_addr().unwrap().port();
        assert_ne!(keep_or_choose(Some(taken)).unwrap(), taken);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_is_given_once_although_nobody_listens_there_yet() {
        let given = keep_or_choose(None).unwrap();
        // Whoever would have got this one gets the next, which somebody else would have got.
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, given + 1));
        let many = (0..200).map(|_| keep_or_choose(None).unwrap());
        let many: std::collections::HashSet<_> = many.collect();
        assert_eq!(many.len(), 200);
        assert!(!many.contains(&given));
        assert_eq!(keep_or_choose(Some(given)).unwrap(), given);
    }

    #[test]
    fn the_search_goes_all_round_and_ends() {
        assert_eq!(choose(9_999, |port| port != 29_999), Some(20_000));
        assert_eq!(choose(10_001, |_| true), Some(20_001));
        assert_eq!(choose(5, |_| false), None);
    }
}
