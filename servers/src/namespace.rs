//! A network of its own for the client of a test, whose cable can be cut
//! without a word to anybody: no reset, no error, no link that goes down. That
//! is how a machine disappears, and what no proxy on 127.0.0.1 can show.
//!
//! The network is a namespace of Linux with one cable (a `veth` pair) to ours.
//! Both ends know each other's hardware address by heart, so that neither ever
//! asks for it. Cutting replaces what they know by an address that nobody has:
//! what is sent leaves, and whoever gets it throws it away as not meant for
//! him. Taking the link down would be noticed by both sides, and dropping
//! packets by `tc` needs modules that not every kernel has.

use std::ffi::OsStr;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::account;
use crate::home;
use crate::problem::{Outcome, Problem};
use crate::programs;
use crate::run;

/// How long the system may take for each step.
const STEP: Duration = Duration::from_secs(10);

/// A hardware address of nobody; "locally administered", so no card has it.
const NOBODY: &str = "02:00:00:00:00:ff";

/// A network with one cable to ours. Removed when dropped; what still runs in
/// it then keeps it, without the cable, until it ends.
#[derive(Debug)]
pub struct Namespace {
    ip: PathBuf,
    name: String,
    outer: End,
    inner: End,
    note: PathBuf,
}

/// One end of the cable.
#[derive(Debug)]
struct End {
    device: String,
    address: Ipv4Addr,
    hardware: &'static str,
    /// Whether it is the one in the namespace.
    within: bool,
}

impl Namespace {
    /// Makes a network.
    ///
    /// # Errors
    /// If we are not root, there is no `ip`, or the system has no namespaces;
    /// the text says which.
    pub fn start() -> Outcome<Self> {
        if !account::is_root() {
            return Err(Problem::new(
                "A network namespace can be made by root only; run this as root.",
            ));
        }
        let ip = programs::find("ip").ok_or_else(|| {
            Problem::new("The program `ip` is not installed; install the package iproute2.")
        })?;
        let namespace = Self::planned(ip)?;
        namespace.make()?;
        Ok(namespace)
    }

    /// Names and addresses that no other test of this machine has: of each
    /// number of a process there is one at a time.
    fn planned(ip: PathBuf) -> Outcome<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Relaxed));
        let name = format!("lockwork-{process}-{count}");
        let end = |side: &str, last, hardware| End {
            // The name of a device has at most 15 characters.
            device: format!("lw{side}{process:x}-{count:x}"),
            address: address(process, count, last),
            hardware,
            within: last == 2,
        };
        Ok(Self {
            ip,
            note: home::note_namespace(&name)?,
            name,
            outer: end("o", 1, "02:00:00:00:00:01"),
            inner: end("i", 2, "02:00:00:00:00:02"),
        })
    }

    fn make(&self) -> Outcome {
        let (outer, inner) = (&self.outer, &self.inner);
        self.ip(&["netns", "add", &self.name])?;
        self.ip(&[
            &["link", "add", &outer.device, "address", outer.hardware],
            &["type", "veth", "peer", "name", &inner.device][..],
            &["address", inner.hardware, "netns", &self.name],
        ]
        .concat())?;
        self.ip(&["-n", &self.name, "link", "set", "lo", "up"])?;
        for end in [outer, inner] {
            let address = format!("{}/30", end.address);
            self.at(end, &["address", "add", &address, "dev", &end.device])?;
            self.at(end, &["link", "set", &end.device, "up"])?;
        }
        self.heal()
    }

    /// Our end of the cable: where a server must listen to be reached.
    pub fn outside(&self) -> Ipv4Addr {
        self.outer.address
    }

    /// The other end: from where its clients come.
    pub fn inside(&self) -> Ipv4Addr {
        self.inner.address
    }

    /// A program that will run in the network. It replaces `ip`, so its process
    /// is the one that is started.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(&self.ip);
        command.args(["netns", "exec", &self.name]).arg(program);
        command
    }

    /// Cuts the cable: from now on nothing arrives on either side, and nobody
    /// is told.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn cut(&self) -> Outcome {
        self.knows(NOBODY, NOBODY)
    }

    /// Mends the cable.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn heal(&self) -> Outcome {
        self.knows(self.inner.hardware, self.outer.hardware)
    }

    /// Tells each end where the other is.
    fn knows(&self, inner: &str, outer: &str) -> Outcome {
        let lines = [
            (&self.outer, &self.inner, inner),
            (&self.inner, &self.outer, outer),
        ];
        for (end, other, hardware) in lines {
            let other = other.address.to_string();
            let neighbour = ["neighbour", "replace", &other, "lladdr", hardware];
            let device = ["nud", "permanent", "dev", &end.device];
            self.at(end, &[&neighbour[..], &device].concat())?;
        }
        Ok(())
    }

    /// Runs `ip` on the side of that end.
    fn at(&self, end: &End, args: &[&str]) -> Outcome {
        let inside = ["-n", &self.name];
        let place = match end.within {
            true => &inside[..],
            false => &[],
        };
        self.ip(&[place, args].concat())
    }

    fn ip(&self, args: &[&str]) -> Outcome {
        let mut ip = Command::new(&self.ip);
        run::answer(ip.args(args), STEP).map(drop)
    }
}

/// Removing the network removes the cable with both its ends.
impl Drop for Namespace {
    fn drop(&mut self) {
        // The end on our side may outlive the network when a process stays in it.
        let _ = self.ip(&["link", "delete", &self.outer.device]);
        let _ = self.ip(&["netns", "delete", &self.name]);
        let _ = fs::remove_file(&self.note);
    }
}

/// One of the four addresses that a cable of a process has: 10.64.0.0 to
/// 10.127.255.255 in steps of four.
fn address(process: u32, count: u32, last: u8) -> Ipv4Addr {
    let cable = process.wrapping_mul(16).wrapping_add(count) % (1 << 20);
    let first = u32::from(Ipv4Addr::new(10, 64, 0, 0));
    Ipv4Addr::from(first + cable * 4 + u32::from(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables_of_two_tests_have_no_address_in_common() {
        assert_eq!(address(1, 0, 1), Ipv4Addr::new(10, 64, 0, 65));
        assert_eq!(address(1, 0, 2), Ipv4Addr::new(10, 64, 0, 66));
        assert_ne!(address(1, 1, 1), address(1, 0, 1));
        assert_ne!(address(2, 0, 1), address(1, 0, 1));
        assert!(address(u32::MAX, 15, 2) < Ipv4Addr::new(10, 128, 0, 0));
    }
}
