//! Who has locked which file, as the kernel tells it.

use crate::{
    floor,
    locked::{self, How},
    place::Place,
    sys::{Access, Identity},
};
use lockwork_core::lock::Result;

/// Somebody's lock on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) alone: bool,
    pub(crate) process: Option<u32>,
}

/// The kernel's table of locks at one moment, `/proc/locks`.
#[derive(Debug)]
pub(crate) struct Kernel {
    locks: Vec<(u64, u64, Lock)>,
    /// Whether it shows locks in this directory: some file systems go by another device there.
    tells: bool,
}

impl Kernel {
    pub(crate) fn ask(place: &Place) -> Result<Self> {
        // A lock of our own on a file nobody holds: if that is not in the table, nothing here is.
        let own = place.open_file(&floor::NAME.into(), Access::Read)?;
        let locked = locked::try_lock(&own, How::WithOthers)?;
        let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let locks = table.lines().filter_map(line).collect();
        let mut kernel = Self { locks, tells: true };
        kernel.tells = !locked || !kernel.on(own.facts.identity).is_empty();
        Ok(kernel)
    }

    pub(crate) const fn tells(&self) -> bool {
        self.tells
    }

    pub(crate) fn on(&self, file: Identity) -> Vec<Lock> {
        let this =
            |(device, inode, _): &&(u64, u64, Lock)| *device == file.device && *inode == file.inode;
        let locks = self.locks.iter().filter(this);
        locks.map(|(_, _, lock)| *lock).collect()
    }
}

/// `7: FLOCK  ADVISORY  WRITE 4711 fe:01:10011418 0 EOF`; with an arrow for one who waits.
fn line(line: &str) -> Option<(u64, u64, Lock)> {
    let mut words = line.split_whitespace().skip(1);
    if words.next()? != "FLOCK" {
        return None;
    }
    let alone = words.nth(1)? == "WRITE";
    let process: i64 = words.next()?.parse().ok()?;
    let mut file = words.next()?.split(':');
    let number = |text: Option<&str>| u32::from_str_radix(text?, 16).ok();
    let (major, minor) = (number(file.next())?, number(file.next())?);
    let inode = file.next()?.parse().ok()?;
    let lock = Lock {
        alone,
        process: u32::try_from(process).ok().filter(|process| *process > 0),
    };
    Some((device(major, minor), inode, lock))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn device(major: u32, minor: u32) -> u64 {
    rustix::fs::makedev(major, minor)
}

/// Only Linux has such a table.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn device(_: u32, _: u32) -> u64 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_read() {
        let read = line("7: FLOCK  ADVISORY  WRITE 4711 fe:01:10011418 0 EOF").unwrap();
        assert_eq!((read.0, read.1), (device(0xfe, 1), 10_011_418));
        let lock = Lock {
            alone: true,
            process: Some(4711),
        };
        assert_eq!(read.2, lock);
        for other in [
            "3: POSIX  ADVISORY  WRITE 1 fe:01:5 0 EOF",
            "7: -> FLOCK  ADVISORY  WRITE 4711 fe:01:10011418 0 EOF",
            "",
        ] {
            assert!(line(other).is_none(), "{other}");
        }
    }
}
