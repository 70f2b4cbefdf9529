//! Who has locked which file, as the kernel tells it.

use crate::{
    floor,
    locked::{self, How},
    place::Place,
    sys::{Access, Identity},
};
use lockwork_core::lock::Result;
use std::{
    cmp::Reverse,
    fs::File,
    io::{self, Read},
};

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

impl Kernel {
    pub(crate) fn ask(place: &Place, files: &[Identity]) -> Result<Self> {
        // A lock of our own on a file nobody holds: if that is not in the table, nothing here is.
        let own = place.open_file(&floor::NAME.into(), Access::Read)?;
        let locked = locked::try_lock(&own, How::WithOthers)?;
        let own = own.facts.identity;
        let locks = agreed(|file| *file == own || files.contains(file));
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

/// A reading is believed once it was made so many times more often than any other. One of six goes wrong on a machine
/// whose locks come and go all the time; that so many more of them go wrong in one way than go right happens to one
/// question of a hundred million then.
const LEAD: usize = 12;

/// How often the table is read, at most.
const READINGS: usize = 150;

/// What the table says of the files that are `wanted`. The kernel hands out a long table in pieces, and finds the next
/// piece by counting lines: a lock that goes meanwhile hides a line at a seam, one that comes shows a line twice. So it
/// is read until one reading is ahead, each with its seams elsewhere, for otherwise all would make the same mistake.
/// What has no seam is believed at once.
fn agreed(wanted: impl Fn(&Identity) -> bool) -> Vec<(Identity, Lock)> {
    let mut readings: Vec<(Vec<_>, usize)> = Vec::new();
    for number in 0..READINGS {
        let table = File::open("/proc/locks").and_then(|file| Table::read(file, number * SEAM));
        let table = table.unwrap_or_default();
        let all = table.text.lines().filter_map(line);
        let reading: Vec<_> = all.filter(|(file, _)| wanted(file)).collect();
        if table.is_whole {
            return reading;
        }
        match readings.iter_mut().find(|(before, _)| *before == reading) {
            Some((_, times)) => *times += 1,
            None => readings.push((reading, 1)),
        }
        readings.sort_by_key(|(_, times)| Reverse(*times));
        let second = readings.get(1).map_or(0, |(_, times)| *times);
        if readings[0].1 >= second + LEAD {
            break;
        }
    }
    readings.swap_remove(0).0
}

/// By so many bytes the seams of one reading are away from those of the one before: some lines of a piece of [`PIECE`].
const SEAM: usize = 208;

/// So much the kernel hands out at once: a page, which has no fewer bytes anywhere.
const PIECE: usize = 4096;

/// The table as it was read.
#[derive(Debug, Default)]
struct Table {
    text: String,
    /// All of it was handed out at once.
    is_whole: bool,
}

impl Table {
    /// Reads the first piece up to the line that ends after `seam` bytes; with none, up to where the kernel ends it.
    fn read(mut from: impl Read, seam: usize) -> io::Result<Self> {
        let mut piece = vec![0; if seam == 0 { PIECE } else { seam }];
        let length = from.read(&mut piece)?;
        piece.truncate(length);
        from.read_to_end(&mut piece)?;
        // A piece that is half empty ended because there was no more to tell, unless what comes next is told with so
        // many who wait for it that it does not fit.
        let is_whole = seam == 0 && length < PIECE / 2 && piece.len() == length;
        let text = String::from_utf8_lossy(&piece).into_owned();
        Ok(Self { text, is_whole })
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
    use std::sync::atomic::{AtomicBool, Ordering};

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

    /// The table of a busy machine: long, and never the same for two readings.
    #[test]
    fn what_is_held_is_told_however_many_other_locks_come_and_go() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: String| File::create(directory.path().join(name)).unwrap();
        let others: Vec<_> = (0..400).map(|number| file(format!("{number}"))).collect();
        others.iter().for_each(|file| file.lock().unwrap());
        let readers = [file("read".to_owned()), file("read".to_owned())];
        readers.iter().for_each(|file| file.lock_shared().unwrap());
        let read = crate::sys::identity_at(&directory.path().join("read")).unwrap();
        let over = AtomicBool::new(false);
        let come_and_go = |files: &[File]| {
            for file in files.iter().cycle() {
                file.unlock().unwrap();
                file.lock().unwrap();
                if over.load(Ordering::Relaxed) {
                    break;
                }
            }
        };
        let wrong = std::thread::scope(|scope| {
            for files in others.chunks(100) {
                scope.spawn(|| come_and_go(files));
            }
            let told = || agreed(|file| Some(*file) == read).len();
            let wrong = (0..60).map(|_| told()).filter(|told| *told != 2).count();
            over.store(true, Ordering::Relaxed);
            wrong
        });
        assert_eq!(wrong, 0, "of 60");
    }

    /// What does not fit behind the first piece, as there are so many who wait for it, is told after it.
    #[test]
    fn a_short_piece_is_the_whole_table_if_nothing_follows() {
        let first = &b"1: FLOCK  ADVISORY  WRITE 1 fe:01:5 0 EOF\n"[..];
        let rest = &b"2: FLOCK  ADVISORY  WRITE 2 fe:01:6 0 EOF\n"[..];
        let alone = Table::read(first, 0).unwrap();
        assert!(alone.is_whole);
        let both = Table::read(first.chain(rest), 0).unwrap();
        assert!(!both.is_whole);
        assert_eq!(both.text.lines().filter_map(line).count(), 2);
        assert!(!Table::read(first, SEAM).unwrap().is_whole);
    }
}
