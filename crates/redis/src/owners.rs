//! How owners are spelled in keys and records: shorter than in hexadecimal digits, as the server goes through each
//! letter several times, and still in visible ones.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use lockwork_core::lock::OwnerId;
use std::fmt;

/// How long a minus and the letters after it are.
const LENGTH: usize = 23;

/// A minus and an owner's letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word([u8; LENGTH]);

impl Word {
    pub(crate) fn of(owner: &OwnerId) -> Self {
        let mut text = [b'-'; LENGTH];
        URL_SAFE_NO_PAD
            .encode_slice(owner.as_bytes(), &mut text[1..])
            .expect("sixteen bytes have 22 letters");
        Self(text)
    }

    pub(crate) const fn letters(&self) -> &[u8] {
        &self.0
    }

    /// The same, and behind it a place in three digits.
    pub(crate) fn at(&self, place: usize) -> [u8; LENGTH + 4] {
        let mut text = [b' '; LENGTH + 4];
        text[..LENGTH].copy_from_slice(&self.0);
        for (at, of) in [100, 10, 1].into_iter().enumerate() {
            text[LENGTH + 1 + at] = b"0123456789"[place / of % 10];
        }
        text
    }
}

/// Whoever knows all of it can give back what the owner holds.
impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Word")
    }
}

/// The owner with these letters.
pub(crate) fn read(letters: &str) -> Option<OwnerId> {
    let mut bytes = [0; 16];
    let length = URL_SAFE_NO_PAD.decode_slice(letters, &mut bytes).ok()?;
    (length == bytes.len()).then(|| OwnerId::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_owner_is_read_as_it_was_written() {
        for byte in 0..=255 {
            let owner = OwnerId::from_bytes([byte; 16]);
            let word = Word::of(&owner).at(128);
            let text = std::str::from_utf8(&word).expect("visible letters");
            assert!(text.starts_with('-') && text.ends_with(" 128"), "{text}");
            assert_eq!(read(&text[1..LENGTH]), Some(owner), "{text}");
        }
    }

    #[test]
    fn what_is_no_owner_is_not_read_as_one() {
        for letters in [
            "",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAA==",
        ] {
            assert_eq!(read(letters), None, "{letters}");
        }
    }
}
