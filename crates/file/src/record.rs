//! What a lock file says: who took the lock last, and with which number.
//!
//! Two slots, each with a checksum, written in turn: whoever is killed in the middle of a write
//! spoils one and leaves the other. Beside them a mark that somebody waits.

use lockwork_core::lock::{Mode, OwnerId};
use std::{
    num::NonZeroU32,
    time::{Duration, SystemTime},
};

/// Bytes of a slot. Two of them lie in one sector of a disk, and in one page of memory.
pub(crate) const SLOT: usize = 128;
/// Where the mark is that somebody waits.
pub(crate) const MARK: usize = 2 * SLOT;
/// Bytes of all that.
pub(crate) const PAGE: usize = MARK + 8;

const MAGIC: &[u8; 4] = b"LKW1";
const CHECKED: usize = SLOT - 4;
/// Bytes of a host's name that are kept.
const HOST: usize = 40;

/// One slot's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Rises with each grant: what tokens are made of.
    pub(crate) counter: u64,
    /// The disk knows that numbers up to this may have been used.
    pub(crate) ceiling: u64,
    /// Since which start of the machine the counter has been kept; zero where that is not known.
    pub(crate) boot: u64,
    /// Which client took the lock: not a process, for it may have several.
    pub(crate) client: u64,
    pub(crate) owner: OwnerId,
    pub(crate) mode: Mode,
    pub(crate) process: u32,
    /// In which name space of process ids that number counts; zero where there are none.
    pub(crate) process_space: u64,
    /// Milliseconds since 1970.
    pub(crate) since: u64,
    pub(crate) host: String,
}

impl Record {
    pub(crate) fn encode(&self) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        let (mode, permits) = encode_mode(self.mode);
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            slot[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(MAGIC);
        put(&mode.to_le_bytes());
        for number in [self.counter, self.ceiling, self.boot, self.client] {
            put(&number.to_le_bytes());
        }
        put(self.owner.as_bytes());
        put(&permits.to_le_bytes());
        put(&self.process.to_le_bytes());
        put(&self.process_space.to_le_bytes());
        put(&self.since.to_le_bytes());
        put(shortened(&self.host).as_bytes());
        let check = crc32fast::hash(&slot[..CHECKED]);
        slot[CHECKED..].copy_from_slice(&check.to_le_bytes());
        slot
    }

    /// What a slot says; `None` if it is empty, torn or something else.
    pub(crate) fn decode(slot: &[u8; SLOT]) -> Option<Self> {
        let check = u32::from_le_bytes(slot[CHECKED..].try_into().ok()?);
        if &slot[..4] != MAGIC || crc32fast::hash(&slot[..CHECKED]) != check {
            return None;
        }
        let long = |at: usize| Some(u64::from_le_bytes(slot[at..at + 8].try_into().ok()?));
        let short = |at: usize| Some(u32::from_le_bytes(slot[at..at + 4].try_into().ok()?));
        let host = &slot[80..80 + HOST];
        let end = host.iter().position(|byte| *byte == 0).unwrap_or(HOST);
        Some(Self {
            counter: long(8)?,
            ceiling: long(16)?,
            boot: long(24)?,
            client: long(32)?,
            owner: OwnerId::from_bytes(slot[40..56].try_into().ok()?),
            mode: decode_mode(short(4)?, short(56)?)?,
            process: short(60)?,
            process_space: long(64)?,
            since: long(72)?,
            host: String::from_utf8_lossy(&host[..end]).into_owned(),
        })
    }

    pub(crate) fn taken_at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.since)
    }
}

fn encode_mode(mode: Mode) -> (u32, u32) {
    match mode {
        Mode::Read => (2, 0),
        Mode::Write => (3, 0),
        Mode::Upgradeable => (4, 0),
        Mode::Permit { of } => (5, of.get()),
        _ => (1, 0),
    }
}

fn decode_mode(mode: u32, permits: u32) -> Option<Mode> {
    Some(match mode {
        1 => Mode::Exclusive,
        2 => Mode::Read,
        3 => Mode::Write,
        4 => Mode::Upgradeable,
        5 => Mode::Permit {
            of: NonZeroU32::new(permits)?,
        },
        _ => return None,
    })
}

/// As much of a host's name as there is room for.
fn shortened(host: &str) -> &str {
    let end = (0..=HOST.min(host.len()))
        .rev()
        .find(|end| host.is_char_boundary(*end));
    &host[..end.unwrap_or(0)]
}

/// A lock file's content, as it was read.
#[derive(Debug)]
pub(crate) struct Page {
    /// The newest record that is whole, and which slot it is in.
    newest: Option<(usize, Record)>,
    someone_waits: bool,
}

/// The file holds something, and it is not what a lock file holds.
#[derive(Debug)]
pub(crate) struct Damaged;

impl Page {
    /// Reads `bytes`, which may be fewer than a whole page: what is missing is zero.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut page = [0; PAGE];
        let length = bytes.len().min(PAGE);
        page[..length].copy_from_slice(&bytes[..length]);
        let slot = |number: usize| {
            let bytes: &[u8; SLOT] = page[number * SLOT..][..SLOT].try_into().ok()?;
            Record::decode(bytes).map(|record| (number, record))
        };
        let newest = match (slot(0), slot(1)) {
            (Some(first), Some(second)) if second.1.counter > first.1.counter => Some(second),
            (Some(first), _) => Some(first),
            (None, second) => second,
        };
        // A file nobody has written to, or whose first write a power cut turned to zeros, is new.
        if newest.is_none() && page[..MARK].iter().any(|byte| *byte != 0) {
            return Err(Damaged);
        }
        Ok(Self {
            newest,
            someone_waits: page[MARK] != 0,
        })
    }

    pub(crate) fn newest(&self) -> Option<&Record> {
        self.newest.as_ref().map(|(_, record)| record)
    }

    /// The last number that was given out; zero if none was.
    pub(crate) fn last_number(&self) -> u64 {
        self.newest().map_or(0, |record| record.counter)
    }

    pub(crate) const fn someone_waits(&self) -> bool {
        self.someone_waits
    }

    /// Where the next record goes: never over the newest.
    pub(crate) fn next_slot(&self) -> u64 {
        match self.newest {
            Some((0, _)) => SLOT as u64,
            _ => 0,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn record(counter: u64) -> Record {
        Record {
            counter,
            ceiling: 7,
            boot: 8,
            client: 9,
            owner: OwnerId::from_bytes([3; 16]),
            mode: Mode::Permit {
                of: NonZeroU32::new(12).unwrap(),
            },
            process: 4711,
            process_space: 10,
            since: 1_760_000_000_000,
            host: "a-host".into(),
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let written = record(5);
        assert_eq!(Record::decode(&written.encode()), Some(written));
    }

    #[test]
    fn a_long_host_name_is_cut_between_characters() {
        let mut written = record(5);
        written.host = format!("{}ä", "x".repeat(HOST - 1));
        let read = Record::decode(&written.encode()).unwrap();
        assert_eq!(read.host, "x".repeat(HOST - 1));
    }

    #[test]
    fn a_record_with_any_bit_wrong_is_none() {
        let whole = record(5).encode();
        for bit in 0..SLOT * 8 {
            let mut torn = whole;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&torn), None, "bit {bit}");
        }
    }

    fn page(first: &[u8], second: &[u8]) -> Vec<u8> {
        [first, second].concat()
    }

    #[test]
    fn the_newest_whole_record_counts_and_is_never_written_over() {
        let (old, new) = (record(5).encode(), record(6).encode());
        let mut torn = new;
        torn[20] ^= 1;
        for (bytes, counter, next) in [
            (page(&old, &new), 6, 0),
            (page(&new, &old), 6, SLOT as u64),
            (page(&old, &torn), 5, SLOT as u64),
            (page(&torn, &old), 5, 0),
            (old.to_vec(), 5, SLOT as u64),
        ] {
            let page = Page::read(&bytes).unwrap();
            assert_eq!(page.newest().unwrap().counter, counter);
            assert_eq!(page.next_slot(), next);
        }
    }

    #[test]
    fn an_empty_file_is_new_and_a_strange_one_is_damaged() {
        for new in [&[][..], &[0; 300]] {
            assert!(Page::read(new).unwrap().newest().is_none());
        }
        for strange in [&b"root:x:0:0"[..], &[1; 300]] {
            assert!(Page::read(strange).is_err());
        }
        let mut torn = record(5).encode();
        torn[5] ^= 1;
        assert!(Page::read(&torn).is_err());
    }
}
