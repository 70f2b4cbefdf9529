//! Choosing a port for a server: one that nobody listens on, and that the
//! system does not hand out to outgoing connections meanwhile.

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
    had.filter(|port| is_free(*port))
        .or_else(|| choose(begin, is_free))
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

    #[test]
    fn the_search_goes_all_round_and_ends() {
        assert_eq!(choose(9_999, |port| port != 29_999), Some(20_000));
        assert_eq!(choose(10_001, |_| true), Some(20_001));
        assert_eq!(choose(5, |_| false), None);
    }
}
