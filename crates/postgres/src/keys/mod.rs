//! Which advisory locks a name stands for.
//!
//! Each lock has four numbers of 64 bits, out of one hash: the lock itself, one that its waiters
//! share, one that a waiting writer holds, and one that the upgradeable reader holds. The permits of
//! a semaphore are numbers in a row. Two names that fall on one number exclude each other; no lock
//! is granted twice for it.

mod medallion;

use lockwork_core::lock::{Compat, LockId, Space};
use sha2::{Digest, Sha256};

/// The version of what is below. Nodes whose versions differ would not exclude each other, so they
/// refuse to run side by side: see `presence.rs`.
pub(crate) const FORMAT: i32 = 1;

/// What the server locks on for one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The lock, or the first permit.
    pub(crate) lock: i64,
    /// Whether [`Key::lock`] is two numbers of 32 bits to the server, a space of their own.
    pub(crate) pair: bool,
    /// Shared by all who wait, so that whoever gives the lock back sees that somebody does.
    pub(crate) wait: i64,
    /// Held by a writer that waits, so that no reader overtakes it.
    pub(crate) turn: i64,
    /// Held by the upgradeable reader.
    pub(crate) rise: i64,
}

impl Key {
    pub(crate) fn of(id: &LockId, compat: Compat) -> Self {
        match compat {
            Compat::None => Self::hashed(id),
            Compat::Medallion => Self::theirs(medallion::number(id.name.as_str())),
        }
    }

    fn hashed(id: &LockId) -> Self {
        let text = format!("lockwork/{FORMAT}/{}/{}", id.space.as_str(), id.name);
        let [lock, wait, turn, rise] = four(text.as_bytes());
        let lock = match id.space {
            // Room for the permits behind the first.
            Space::Semaphore => lock >> 1,
            _ => lock,
        };
        Self {
            lock,
            pair: false,
            wait,
            turn,
            rise,
        }
    }

    fn theirs((lock, pair): (i64, bool)) -> Self {
        let text = format!("lockwork/{FORMAT}/medallion/{pair}/{lock}");
        let [_, wait, turn, rise] = four(text.as_bytes());
        Self {
            lock,
            pair,
            wait,
            turn,
            rise,
        }
    }

    /// The permit with this number.
    pub(crate) const fn slot(&self, number: i64) -> i64 {
        self.lock.wrapping_add(number)
    }
}

/// Four numbers out of one hash.
fn four(text: &[u8]) -> [i64; 4] {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let (numbers, _) = hash.as_chunks::<8>();
    [0, 1, 2, 3].map(|at| i64::from_be_bytes(numbers[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::lock::Name;

    fn key(space: Space, name: &str) -> Key {
        let name = Name::new(name).expect("a name");
        Key::of(&LockId::new(space, name), Compat::None)
    }

    /// A change of these numbers is a new [`FORMAT`].
    #[test]
    fn the_numbers_of_a_name_never_change() {
        let mutex = key(Space::Mutex, "workflow-instance:42");
        let numbers = [mutex.lock, mutex.wait, mutex.turn, mutex.rise];
        assert_eq!(numbers, four(b"lockwork/1/mutex/workflow-instance:42"));
        assert_eq!(mutex.lock, 4_568_264_994_767_509_214);
        assert_eq!(key(Space::Semaphore, "a").lock, -231_592_901_249_482_819);
    }

    #[test]
    fn each_primitive_has_names_of_its_own() {
        let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
        let [a, b, c] = spaces.map(|space| key(space, "a").lock);
        assert!(a != b && b != c && a != c);
    }

    #[test]
    fn permits_lie_in_a_row_without_overflow() {
        for name in ["a", "b", "c", "d", "e", "f"] {
            let key = key(Space::Semaphore, name);
            assert!(key.lock.checked_add(i64::from(u32::MAX)).is_some());
            assert_eq!(key.slot(7), key.lock + 7);
        }
    }
}
