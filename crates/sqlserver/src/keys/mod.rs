//! What the server locks on for a name: a text of at most 255 characters.
//!
//! What is longer the server cuts off without a word, and of what is held it shows the first 32
//! characters only. So a hash comes first, by which a lock is found among those that are held; then
//! the name itself, as long as it fits.

mod medallion;

use lockwork_core::lock::{Compat, LockId, Space};
use sha2::{Digest, Sha256};
use std::{fmt, sync::Arc};

/// A change in what follows is another number here: locks of two formats do not exclude each other.
const FORMAT: u32 = 1;

/// So long a resource may be, in bytes: that is how some servers count, and characters are fewer.
const LONGEST: usize = 255;

/// For the number of a permit.
const ROOM: usize = "#4294967295".len();

/// So many characters the server shows of what is held.
const SHOWN: usize = 32;

/// Of the hash that every text of ours begins with.
const HEAD: usize = 16;

/// What the server locks on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    resource: Arc<str>,
    /// Of a read/write lock: held by the upgradeable reader, and by a writer before it waits for the
    /// readers to leave. What a session holds in two modes stays in the stronger one until it is given
    /// back altogether, so these cannot be one.
    gate: Option<Arc<str>>,
    /// The name is mapped as .NET does it.
    is_theirs: bool,
}

impl Key {
    pub(crate) fn of(id: &LockId, compat: Compat) -> Self {
        if compat == Compat::Medallion {
            return Self {
                resource: medallion::resource(id.name.as_str()).into(),
                gate: None,
                is_theirs: true,
            };
        }
        let (letter, gate) = match id.space {
            Space::Mutex => ('m', None),
            Space::RwLock => ('r', Some('g')),
            _ => ('s', None),
        };
        Self {
            resource: own(id, letter).into(),
            gate: gate.map(|gate| own(id, gate).into()),
            is_theirs: false,
        }
    }

    pub(crate) fn resource(&self) -> &str {
        &self.resource
    }

    pub(crate) fn gate(&self) -> Option<&str> {
        self.gate.as_deref()
    }

    /// The permit with this number.
    pub(crate) fn slot(&self, number: i64) -> String {
        format!("{}#{number}", self.resource)
    }

    /// By what it is found where the server lists what is held, which it shows between brackets.
    pub(crate) fn shown(&self) -> String {
        if !self.is_theirs {
            return format!(":[{}/", &self.resource[..HEAD]);
        }
        let units: Vec<u16> = self.resource.encode_utf16().take(SHOWN).collect();
        let end = if units.len() < SHOWN { "]" } else { "" };
        format!(":[{}{end}", String::from_utf16_lossy(&units))
    }

    /// Whether what the server shows is the gate.
    pub(crate) fn is_gate(&self, shown: &str) -> bool {
        let after = shown.split_once(&self.shown()).map(|(_, after)| after);
        self.gate.is_some() && after.is_some_and(|after| after.starts_with(['g', 'G']))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resource.fmt(f)
    }
}

/// `HASH/LETTER/NAME`; of a name that is too long the beginning and a hash of all of it, under a
/// capital letter, so that no short name can look like it.
fn own(id: &LockId, letter: char) -> String {
    let name = id.name.as_str();
    let text = format!("lockwork/{FORMAT}/{}/{name}", id.space.as_str());
    let hash = base32(&Sha256::digest(text.as_bytes()));
    let head = &hash[..HEAD];
    if HEAD + 3 + name.len() <= LONGEST - ROOM {
        return format!("{head}/{letter}/{name}");
    }
    let room = LONGEST - ROOM - HEAD - 4 - hash.len();
    let beginning = &name[..name.floor_char_boundary(room)];
    format!("{head}/{}/{beginning}~{hash}", letter.to_ascii_uppercase())
}

/// Five bits a character (RFC 4648), without the signs that fill up.
fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits = bytes.len() * 8;
    let five = |at: usize| {
        let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
        let number = (0..5).fold(0, |number, more| number << 1 | bit(at + more));
        char::from(LETTERS[usize::from(number)])
    };
    (0..bits).step_by(5).map(five).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::lock::Name;
    use std::collections::HashSet;

    fn key(space: Space, name: &str) -> Key {
        let id = LockId::new(space, Name::new(name).expect("a name"));
        Key::of(&id, Compat::None)
    }

    /// A change of these texts is a new [`FORMAT`].
    #[test]
    fn the_text_of_a_name_never_changes() {
        let mutex = key(Space::Mutex, "workflow-instance:42");
        assert_eq!(mutex.resource(), "H5S3ZTY47ALN5A3B/m/workflow-instance:42");
        assert_eq!(mutex.slot(7), "H5S3ZTY47ALN5A3B/m/workflow-instance:42#7");
    }

    #[test]
    fn base32_is_that_of_the_rfc() {
        for (bytes, text) in [("f", "MY"), ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI")] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn every_name_fits_with_its_permits_and_none_is_anothers() {
        let mut seen = HashSet::new();
        for space in [Space::Mutex, Space::RwLock, Space::Semaphore] {
            for length in 1..=1024 {
                let key = key(space, &"x".repeat(length));
                assert!(key.slot(i64::from(u32::MAX)).len() <= LONGEST);
                assert!(seen.insert(key.resource().to_owned()));
            }
        }
        for name in ["é".repeat(300), "漢".repeat(300), "🔒".repeat(200)] {
            assert!(seen.insert(key(Space::Mutex, &name).resource().to_owned()));
        }
    }

    #[test]
    fn a_lock_is_found_by_what_the_server_shows_of_it() {
        let [a, b] = ["a", "b"].map(|end| key(Space::RwLock, &format!("{}{end}", "x".repeat(40))));
        let show = |resource: &str| format!("0:[{}]:(0a1b2c3d)", &resource[..SHOWN]);
        let (lock, gate) = (show(a.resource()), show(a.gate().expect("a gate")));
        assert!(lock.contains(&a.shown()) && gate.contains(&a.shown()));
        assert!(!lock.contains(&b.shown()));
        assert!(a.is_gate(&gate) && !a.is_gate(&lock));
    }

    #[test]
    fn a_name_of_dot_net_is_found_by_all_that_is_shown() {
        let key = |name: &str| {
            let id = LockId::new(Space::Mutex, Name::new(name).expect("a name"));
            Key::of(&id, Compat::Medallion)
        };
        assert_eq!(key("ab").shown(), ":[ab]");
        assert_eq!(
            key(&"x".repeat(40)).shown(),
            format!(":[{}", "x".repeat(32))
        );
    }
}
