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

/// The locks on some files, from the kernel's table, `/proc/locks`.
#[derive(Debug)]
pub(crate) struct Kernel {
    locks: Vec<(Identity, Lock)>,
    /// Whether it shows locks in this directory: some file systems go by another device there.
    tells: bool,
}

/// How often the table is read, at most, until two readings say the same.
const READINGS: usize = 8;

impl Kernel {
    pub(crate) fn ask(place: &Place, files: &[Identity]) -> Result<Self> {
        // A lock of our own on a file nobody holds: if that is not in the table, nothing here is.
        let own = place.open_file(&floor::NAME.into(), Access::Read)?;
        let locked = locked::try_lock(&own, How::WithOthers)?;
        let own = own.facts.identity;
        let read = || -> Vec<_> {
            let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
            let all = table.lines().filter_map(line);
            all.filter(|(file, _)| *file == own || files.contains(file))
                .collect()
        };
        // A long table comes in several pieces, and what changes in between shifts the rest.
        let mut locks = read();
        for _ in 1..READINGS {
            let before = std::mem::replace(&mut locks, read());
            if before == locks {
                break;
            }
        }
        let tells = !locked || locks.iter().any(|(file, _)| *file == own);
        Ok(Self { locks, tells })
    }

    pub(crate) const fn tells(&self) -> bool {
        self.tells
    }

    pub(crate) fn on(&self, file: Identity) -> Vec<Lock> {
        let locks = self.locks.iter().filter(|(locked, _)| *locked == file);
        let mut locks: Vec<_> = locks.map(|(_, lock)| *lock).collect();
        // Whoever is alone was read twice.
        if locks.iter().any(|lock| lock.alone) {
            locks.truncate(1);
        }
        locks
    }
}

/// `7: FLOCK  ADVISORY  WRITE 4711 fe:01:10011418 0 EOF`; with an arrow for one who waits.
fn line(line: &str) -> Option<(Identity, Lock)> {
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
    let device = device(major, minor);
    Some((Identity { device, inode }, lock))
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
        let device = device(0xfe, 1);
        let inode = 10_011_418;
        assert_eq!(read.0, Identity { device, inode });
        let lock = Lock {
            alone: true,
            process: Some(4711),
        };
        assert_eq!(read.1, lock);
        for other in [
            "3: POSIX  ADVISORY  WRITE 1 fe:01:5 0 EOF",
            "7: -> FLOCK  ADVISORY  WRITE 4711 fe:01:10011418 0 EOF",
            "",
        ] {
            assert!(line(other).is_none(), "{other}");
        }
    }
}
