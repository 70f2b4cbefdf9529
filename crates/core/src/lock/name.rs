//! What a lock is called.

use super::{Error, ErrorKind, Result};
use std::{
    cmp::Ordering,
    convert::Infallible,
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{Arc, OnceLock},
};

/// The name of a lock: 1 to 1024 bytes of UTF-8 without control characters, compared byte by byte.
///
/// No normalisation and no case folding: `"Ä"` in its two Unicode spellings is two names, and so
/// are `"a"` and `"A"`. Every backend maps names so that different ones never meet.
///
/// ```
/// use lockwork_core::lock::{ErrorKind, Name};
///
/// assert_eq!(Name::new("invoices/2026-08")?.as_str(), "invoices/2026-08");
/// assert_eq!(Name::new("two\nlines").unwrap_err().kind(), ErrorKind::Invalid);
/// # Ok::<(), lockwork_core::lock::Error>(())
/// ```
#[derive(Clone)]
pub struct Name {
    text: Arc<str>,
    /// Made once: a name is looked up several times on its way to the server.
    hash: u64,
}

impl Name {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 1024;

    /// Checks `text` and makes a name of it.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`], with a sentence that says what is wrong, if `text` is empty, longer
    /// than [`Name::MAX_BYTES`] or contains a control character.
    pub fn new(text: &str) -> Result<Self> {
        let refuse = |why: &'static str| Err(Error::new(ErrorKind::Invalid, why));
        if text.is_empty() {
            return refuse("a lock needs a name: this one is empty");
        }
        if text.len() > Self::MAX_BYTES {
            return refuse("a lock name is at most 1024 bytes long: shorten it, or hash its tail")
                .map_err(|error: Error| error.with("bytes", text.len()));
        }
        let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let control = || text.char_indices().find(|(_, c)| c.is_control());
        if let Some((at, found)) = if plain { None } else { control() } {
            return refuse("a lock name has no control characters: remove or encode it").map_err(
                |error: Error| error.with("found", found.escape_unicode()).with("at", at),
            );
        }
        Ok(Self {
            text: text.into(),
            hash: keyed_hash(text),
        })
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Keyed by the process, so that nobody outside can choose names that collide.
fn keyed_hash(text: &str) -> u64 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    KEY.get_or_init(RandomState::new).hash_one(text)
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        // Mostly it is one name's clone that is looked for.
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// By their bytes: the same order everywhere.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({:?})", self.text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<&str> for Name {
    type Error = Error;
    fn try_from(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl TryFrom<&String> for Name {
    type Error = Error;
    fn try_from(text: &String) -> Result<Self> {
        Self::new(text)
    }
}

impl TryFrom<String> for Name {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        Self::new(&text)
    }
}

impl From<&Self> for Name {
    fn from(name: &Self) -> Self {
        name.clone()
    }
}

/// A [`Name`] given where a name is asked for needs no check.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
