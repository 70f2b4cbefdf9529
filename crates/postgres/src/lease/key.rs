//! Which rows a name stands for.

use lockwork_core::lock::LockId;
use sha2::{Digest, Sha256};

/// The version of what is below. Nodes whose versions differ do not exclude each other, and nothing
/// tells them: a change needs a table of another name, and a way to look into both.
const FORMAT: i32 = 1;

/// What a lock is called in the table: a hash of its name, so that every key is of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) bytes: [u8; 32],
    /// Whoever changes rows of this lock holds this number meanwhile. Not one of those that locks of
    /// sessions are: those are held for longer.
    pub(super) number: i64,
}

impl Key {
    pub(super) fn of(id: &LockId) -> Self {
        let text = format!("lockwork/{FORMAT}/lease/{}/{}", id.space.as_str(), id.name);
        let bytes: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut first = [0; 8];
        first.copy_from_slice(&bytes[..8]);
        Self {
            bytes,
            number: i64::from_be_bytes(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::lock::{Name, Space};

    fn key(space: Space, name: &str) -> Key {
        Key::of(&LockId::new(space, Name::new(name).expect("a name")))
    }

    #[test]
    fn the_key_of_a_name_never_changes() {
        let number = key(Space::Mutex, "workflow-instance:42").number;
        assert_eq!(number, -8_935_770_072_345_076_161);
    }

    #[test]
    fn each_primitive_has_names_of_its_own() {
        let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
        let [a, b, c] = spaces.map(|space| key(space, "a").number);
        assert!(a != b && b != c && a != c);
    }
}
