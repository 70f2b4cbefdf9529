//! Which rows a name stands for.

use crate::keys::FORMAT;
use lockwork_core::lock::LockId;
use sha2::{Digest, Sha256};

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

    #[test]
    fn each_primitive_has_names_of_its_own() {
        let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
        let [a, b, c] = spaces.map(|space| {
            let name = Name::new("a").expect("a name");
            Key::of(&LockId::new(space, name)).number
        });
        assert!(a != b && b != c && a != c);
    }
}
