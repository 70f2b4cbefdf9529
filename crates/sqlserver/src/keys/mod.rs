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

/// What the server locks on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(Arc<str>);

impl Key {
    pub(crate) fn of(id: &LockId, compat: Compat) -> Self {
        Self(match compat {
            Compat::None => own(id).into(),
            Compat::Medallion => medallion::resource(id.name.as_str()).into(),
        })
    }

    pub(crate) fn resource(&self) -> &str {
        &self.0
    }

    /// The permit with this number.
    pub(crate) fn slot(&self, number: i64) -> String {
        format!("{}#{number}", self.0)
    }

    /// How the server describes it when it is held: so begins what is between the brackets.
    pub(crate) fn shown(&self, space: Space) -> String {
        let units: Vec<u16> = self.0.encode_utf16().take(SHOWN).collect();
        let is_all = units.len() < SHOWN && space != Space::Semaphore;
        let shown = String::from_utf16_lossy(&units);
        format!(":[{shown}{}", if is_all { "]" } else { "" })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `HASH/SPACE/NAME`; of a name that is too long the beginning and a hash of all of it, under
/// another letter, so that no short name can look like it.
fn own(id: &LockId) -> String {
    let name = id.name.as_str();
    let text = format!("lockwork/{FORMAT}/{}/{name}", id.space.as_str());
    let hash = base32(&Sha256::digest(text.as_bytes()));
    let (short, long) = match id.space {
        Space::Mutex => ('m', 'M'),
        Space::RwLock => ('r', 'R'),
        _ => ('s', 'S'),
    };
    let head = &hash[..16];
    if head.len() + 3 + name.len() <= LONGEST - ROOM {
        return format!("{head}/{short}/{name}");
    }
    let room = LONGEST - ROOM - head.len() - 4 - hash.len();
    let beginning = &name[..name.floor_char_boundary(room)];
    format!("{head}/{long}/{beginning}~{hash}")
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
    fn the_hash_is_in_what_the_server_shows() {
        let [a, b] = ["a", "b"].map(|end| key(Space::Mutex, &format!("{}{end}", "x".repeat(40))));
        assert_ne!(a.shown(Space::Mutex), b.shown(Space::Mutex));
        assert!(
            key(Space::Mutex, "a")
                .shown(Space::Mutex)
                .ends_with("/m/a]")
        );
        assert!(
            key(Space::Semaphore, "a")
                .shown(Space::Semaphore)
                .ends_with("/s/a")
        );
    }
}
