//! Who asks: an id made once per request.

use rand::Rng;
use std::fmt;

/// 128 random bits that stand for one request, and for the grant it may become.
///
/// Made once, before the first byte is sent, and kept through every retry: a server that has
/// already granted this owner the lock says so instead of making it wait for itself, and a release
/// frees what this owner holds and nothing else. Whoever knows an owner id can release its lock, so
/// [`Debug`] shows only its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId([u8; 16]);

impl OwnerId {
    /// A new id, from the operating system's generator by way of a cipher kept per thread.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The id `bytes` stand for, as read back from a server.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id that 32 hexadecimal digits stand for, as read back from a server.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        let number = u128::from_str_radix(digits, 16).ok()?;
        Some(Self(number.to_be_bytes()))
    }

    /// All of it. For the server only, never for a log.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// The first 32 bits: enough to tell owners apart in a log, not enough to act as one.
impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…")
    }
}

impl fmt::Debug for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnerId({self})")
    }
}
