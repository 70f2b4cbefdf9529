//! What a lock is called.

use super::{Error, ErrorKind, Result};
use std::{convert::Infallible, fmt, sync::Arc};

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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

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
        if let Some((at, found)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return refuse("a lock name has no control characters: remove or encode it").map_err(
                |error: Error| error.with("found", found.escape_unicode()).with("at", at),
            );
        }
        Ok(Self(text.into()))
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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

impl TryFrom<&Name> for Name {
    type Error = Infallible;
    fn try_from(name: &Name) -> Result<Self, Infallible> {
        Ok(name.clone())
    }
}

/// A [`Name`] given where a name is asked for needs no check.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
