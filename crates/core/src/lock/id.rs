//! Which lock: a name within the name space of its primitive.

use super::Name;
use std::fmt;

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
