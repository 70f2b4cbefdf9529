//! One value, one word.

use lockwork::{Holder, LockId, Mode, Name, OwnerId, Space, Token, Waiting};
use std::time::{Duration, SystemTime};

/// Something that is written as one word without spaces.
pub(super) trait Word: Sized {
    fn word(&self) -> String;
    fn of(word: &str) -> Option<Self>;
}

impl Word for LockId {
    fn word(&self) -> String {
        format!(
            "{}:{}",
            self.space.as_str(),
            hex(self.name.as_str().as_bytes())
        )
    }

    fn of(word: &str) -> Option<Self> {
        let (space, name) = word.split_once(':')?;
        let space = [Space::Mutex, Space::RwLock, Space::Semaphore]
            .into_iter()
            .find(|known| known.as_str() == space)?;
        Some(Self::new(space, Name::new(&text(name)?).ok()?))
    }
}

impl Word for OwnerId {
    fn word(&self) -> String {
        hex(self.as_bytes())
    }

    fn of(word: &str) -> Option<Self> {
        Some(Self::from_bytes(bytes(word)?.try_into().ok()?))
    }
}

impl Word for Mode {
    fn word(&self) -> String {
        match self {
            Self::Permit { of } => format!("permit={of}"),
            other => other.as_str().to_owned(),
        }
    }

    fn of(word: &str) -> Option<Self> {
        if let Some(of) = word.strip_prefix("permit=") {
            return Some(Self::Permit {
                of: of.parse().ok()?,
            });
        }
        [Self::Exclusive, Self::Read, Self::Write, Self::Upgradeable]
            .into_iter()
            .find(|known| known.as_str() == word)
    }
}

/// Milliseconds, rounded up: a server that keeps a lease for longer than asked does no harm.
impl Word for Duration {
    fn word(&self) -> String {
        self.as_micros().div_ceil(1000).to_string()
    }

    fn of(word: &str) -> Option<Self> {
        word.parse().ok().map(Self::from_millis)
    }
}

/// The number the server gave.
impl Word for Token {
    fn word(&self) -> String {
        (self.get() >> 16).to_string()
    }

    fn of(word: &str) -> Option<Self> {
        Self::from_server(word.parse().ok()?)
    }
}

impl<T: Word> Word for Option<T> {
    fn word(&self) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), Word::word)
    }

    fn of(word: &str) -> Option<Self> {
        match word {
            "-" => Some(None),
            some => T::of(some).map(Some),
        }
    }
}

impl<A: Word, B: Word> Word for (A, B) {
    fn word(&self) -> String {
        format!("{}/{}", self.0.word(), self.1.word())
    }

    fn of(word: &str) -> Option<Self> {
        let (a, b) = word.split_once('/')?;
        Some((A::of(a)?, B::of(b)?))
    }
}

impl Word for Holder {
    fn word(&self) -> String {
        let since = self
            .since
            .and_then(|since| since.duration_since(SystemTime::UNIX_EPOCH).ok());
        let client = self.client.as_deref().unwrap_or_default();
        let (mode, token) = (self.mode.word(), self.token.word());
        let (owner, since) = (self.owner.word(), since.word());
        format!("{owner}/{mode}/{token}/{since}/{}", hex(client.as_bytes()))
    }

    fn of(word: &str) -> Option<Self> {
        let parts: Vec<&str> = word.split('/').collect();
        let [owner, mode, token, since, client] = parts[..] else {
            return None;
        };
        let mut holder = Self::new(OwnerId::of(owner)?, Mode::of(mode)?);
        holder.token = Word::of(token)?;
        let since: Option<Duration> = Word::of(since)?;
        holder.since = since.map(|since| SystemTime::UNIX_EPOCH + since);
        holder.client = Some(text(client)?).filter(|client| !client.is_empty());
        Some(holder)
    }
}

impl Word for Waiting {
    fn word(&self) -> String {
        (self.owner, self.mode).word()
    }

    fn of(word: &str) -> Option<Self> {
        let (owner, mode) = Word::of(word)?;
        Some(Self::new(owner, mode))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn text(word: &str) -> Option<String> {
    String::from_utf8(bytes(word)?).ok()
}

fn bytes(word: &str) -> Option<Vec<u8>> {
    if !word.is_ascii() || !word.len().is_multiple_of(2) {
        return None;
    }
    (0..word.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&word[at..at + 2], 16).ok())
        .collect()
}
