//! How a lock is held, and which ways of holding go together.

use super::Space;
use std::num::NonZeroU32;

/// How a lock is asked for and held. Data, so that it can be logged, compared and forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// A mutex: one holder.
    Exclusive,
    /// A reader: beside other readers and one upgradeable reader.
    Read,
    /// The writer: beside nobody.
    Write,
    /// A reader that may become the writer: beside readers, never beside another of its kind.
    Upgradeable,
    /// One of the permits of a semaphore.
    Permit {
        /// How many there are. A request is admitted while fewer than this are out.
        of: NonZeroU32,
    },
}

impl Mode {
    /// The primitive this mode belongs to.
    #[must_use]
    pub const fn space(self) -> Space {
        match self {
            Self::Exclusive => Space::Mutex,
            Self::Read | Self::Write | Self::Upgradeable => Space::RwLock,
            Self::Permit { .. } => Space::Semaphore,
        }
    }

    /// A short, stable word for logs and lists.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Read => "read",
            Self::Write => "write",
            Self::Upgradeable => "upgradeable",
            Self::Permit { .. } => "permit",
        }
    }

    /// A number for tables and scripts, which never changes, and how many permits there are.
    #[must_use]
    pub const fn code(self) -> (u8, u32) {
        match self {
            Self::Exclusive => (1, 0),
            Self::Read => (2, 0),
            Self::Upgradeable => (3, 0),
            Self::Write => (4, 0),
            Self::Permit { of } => (5, of.get()),
        }
    }

    /// The mode with this [code](Mode::code).
    #[must_use]
    pub const fn from_code(code: u8, permits: u32) -> Option<Self> {
        match (code, NonZeroU32::new(permits)) {
            (1, _) => Some(Self::Exclusive),
            (2, _) => Some(Self::Read),
            (3, _) => Some(Self::Upgradeable),
            (4, _) => Some(Self::Write),
            (5, Some(of)) => Some(Self::Permit { of }),
            _ => None,
        }
    }

    /// Whether a token is promised with a grant in this mode.
    #[must_use]
    pub const fn has_token(self) -> bool {
        matches!(self, Self::Exclusive | Self::Write)
    }
}

/// Who is in: the one table of which modes go together. The memory backend, the in-process queue
/// and the session pool all decide by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present {
    exclusive: u32,
    readers: u32,
    upgradeable: u32,
    writers: u32,
    permits: u32,
}

impl Present {
    /// Whether `mode` may come in beside those who are.
    ///
    /// Modes of different primitives never do: where they meet at all, two names have fallen on
    /// one key of a server.
    #[must_use]
    pub const fn admits(&self, mode: Mode) -> bool {
        let no_readers = self.readers == 0 && self.upgradeable == 0;
        let no_strangers = match mode {
            Mode::Exclusive => no_readers && self.writers == 0 && self.permits == 0,
            Mode::Read | Mode::Upgradeable | Mode::Write => {
                self.exclusive == 0 && self.permits == 0
            }
            Mode::Permit { .. } => self.exclusive == 0 && no_readers && self.writers == 0,
        };
        no_strangers
            && match mode {
                Mode::Exclusive => self.exclusive == 0,
                Mode::Read => self.writers == 0,
                Mode::Upgradeable => self.writers == 0 && self.upgradeable == 0,
                Mode::Write => self.writers == 0 && no_readers,
                Mode::Permit { of } => self.permits < of.get(),
            }
    }

    /// Whether nobody is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many plain readers are in.
    #[must_use]
    pub const fn readers(&self) -> u32 {
        self.readers
    }

    /// One more in `mode`.
    pub fn add(&mut self, mode: Mode) {
        *self.count(mode) += 1;
    }

    /// One less in `mode`.
    pub fn remove(&mut self, mode: Mode) {
        let count = self.count(mode);
        debug_assert!(*count > 0, "{mode:?} left without having come in");
        *count = count.saturating_sub(1);
    }

    /// These and `others` together.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self {
            exclusive: self.exclusive + others.exclusive,
            readers: self.readers + others.readers,
            upgradeable: self.upgradeable + others.upgradeable,
            writers: self.writers + others.writers,
            permits: self.permits + others.permits,
        }
    }

    fn count(&mut self, mode: Mode) -> &mut u32 {
        match mode {
            Mode::Exclusive => &mut self.exclusive,
            Mode::Read => &mut self.readers,
            Mode::Upgradeable => &mut self.upgradeable,
            Mode::Write => &mut self.writers,
            Mode::Permit { .. } => &mut self.permits,
        }
    }
}
