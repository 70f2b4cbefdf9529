//! Which lock: a name within the name space of its primitive.

use super::Name;
use std::{
    fmt,
    hash::{BuildHasher, Hasher},
};

/// The primitive a name belongs to. A mutex `"x"` and a semaphore `"x"` are different locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Space {
    /// Names of [`Mutex`](super::Mutex)es.
    Mutex,
    /// Names of [`RwLock`](super::RwLock)s.
    RwLock,
    /// Names of [`Semaphore`](super::Semaphore)s.
    Semaphore,
}

impl Space {
    /// A short, stable word for keys and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::RwLock => "rwlock",
            Self::Semaphore => "semaphore",
        }
    }
}

/// One lock, as every backend identifies it. Ordered, so that several can be taken in one order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockId {
    /// Whose name space.
    pub space: Space,
    /// The name in it.
    pub name: Name,
}

impl LockId {
    /// The lock called `name` in `space`.
    #[must_use]
    pub const fn new(space: Space, name: Name) -> Self {
        Self { space, name }
    }
}

impl fmt::Display for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space.as_str(), self.name)
    }
}

/// Hashes locks by the number that each name brings: for tables of them, as in
/// `HashMap<LockId, T, ByName>`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByName;

impl BuildHasher for ByName {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(0)
    }
}

/// What [`ByName`] hashes with.
#[derive(Debug)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("an id is hashed by numbers")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 ^= hash;
    }

    fn write_isize(&mut self, space: isize) {
        // Spreads the few spaces over all bits.
        self.0 ^= (space as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
