//! Which file a lock is in.
//!
//! The name of a lock is mapped so that different ones never meet, whatever the file system makes
//! of case, accents or reserved words: a readable beginning for people, and a hash that decides.

use lockwork_core::lock::LockId;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What every lock file's name ends in.
pub(crate) const SUFFIX: &str = ".lock";

/// What a gate's name ends in.
const GATE: &str = ".gate.lock";

/// How much of a lock's name is shown.
const SHOWN: usize = 32;

/// The files of one lock.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    stem: String,
}

impl Names {
    pub(crate) fn of(id: &LockId) -> Self {
        let shown = id.name.as_str().chars().take(SHOWN).map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
            _ => '_',
        });
        let mut stem = String::with_capacity(96);
        stem.push_str(id.space.as_str());
        stem.push('-');
        stem.extend(shown);
        stem.push('-');
        push_hash(&mut stem, id.name.as_str());
        Self { stem }
    }

    /// What all files of this lock begin with, and no other lock's do.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// The file that is held by whoever holds a mutex, reads or writes.
    pub(crate) fn main(&self) -> Arc<str> {
        format!("{}{SUFFIX}", self.stem).into()
    }

    /// The file that is held by the one who writes, wants to, or may come to.
    pub(crate) fn intent(&self) -> Arc<str> {
        format!("{}.intent{SUFFIX}", self.stem).into()
    }

    /// The file that everybody passes on the way in, and that a waiter shuts.
    pub(crate) fn gate(&self) -> Arc<str> {
        format!("{}{GATE}", self.stem).into()
    }

    /// The file of a semaphore's permit.
    pub(crate) fn permit(&self, number: u32) -> Arc<str> {
        format!("{}.{number}{SUFFIX}", self.stem).into()
    }
}

/// Whether a file of this name is a gate.
pub(crate) fn is_gate(file: &str) -> bool {
    file.ends_with(GATE)
}

/// What all files of the lock begin with to which a file of this name belongs.
pub(crate) fn stem_of(file: &str) -> &str {
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

/// 160 bits of SHA-256 in lower-case base 32 (RFC 4648): 32 characters that no file system folds.
fn push_hash(text: &mut String, name: &str) {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = Sha256::digest(name.as_bytes());
    for five in digest[..20].chunks_exact(5) {
        let bits = five
            .iter()
            .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for shift in (0..8).rev() {
            text.push(char::from(ALPHABET[(bits >> (shift * 5) & 31) as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::lock::{Name, Space};

    fn main_of(space: Space, name: &str) -> String {
        let id = LockId::new(space, Name::new(name).unwrap());
        Names::of(&id).main().to_string()
    }

    #[test]
    fn a_name_is_shown_and_hashed() {
        let name = main_of(Space::Mutex, "invoices/2026-08");
        // The hash is what `printf invoices/2026-08 | sha256sum` says, in base 32.
        assert_eq!(
            name,
            "mutex-invoices_2026-08-qe5gqesde2oy63niinvgto5fdo247g4z.lock"
        );
    }

    #[test]
    fn a_file_tells_which_lock_it_is_of() {
        let names = Names::of(&LockId::new(Space::Semaphore, Name::new("a.b").unwrap()));
        for file in [names.main(), names.intent(), names.gate(), names.permit(7)] {
            assert_eq!(stem_of(&file), names.stem());
            assert_eq!(is_gate(&file), file == names.gate());
        }
    }

    #[test]
    fn no_name_leaves_the_directory_or_is_too_long_for_a_file() {
        for name in ["../../etc/passwd", "/", "..", ".", "CON", &"ä".repeat(512)] {
            let file = main_of(Space::Semaphore, name);
            assert!(!file.contains(['/', '\\']) && file.len() < 120, "{file}");
        }
    }

    #[test]
    fn names_that_look_the_same_in_short_are_different_files() {
        let (one, other) = ("a/b", "a_b");
        assert_ne!(main_of(Space::Mutex, one), main_of(Space::Mutex, other));
        let long = "x".repeat(100);
        let longer = format!("{long}y");
        assert_ne!(main_of(Space::Mutex, &long), main_of(Space::Mutex, &longer));
    }
}
