//! Which file a lock is in.
//!
//! The name of a lock is mapped so that different ones never meet, whatever the file system makes
//! of case, accents or reserved words: a readable beginning for people, and a hash that decides.

use lockwork_core::lock::{LockId, Name, Space};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What every lock file's name ends in.
pub(crate) const SUFFIX: &str = ".lock";

/// What a gate's name ends in.
const GATE: &str = ".gate.lock";

/// What an intent's name ends in.
const INTENT: &str = ".intent.lock";

/// How much of a lock's name is shown.
const SHOWN: usize = 32;

/// What a file's name has of its hash.
const HASH: usize = 32;

/// The files of one lock.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    stem: String,
}

impl Names {
    pub(crate) fn of(id: &LockId) -> Self {
        let shown = id.name.as_str().chars().take(SHOWN).map(shown_as);
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
        format!("{}{INTENT}", self.stem).into()
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

/// Whether a file of this name is held by the one who writes, wants to, or may come to.
pub(crate) fn is_intent(file: &str) -> bool {
    file.ends_with(INTENT)
}

/// What a character of a name is in a file's name.
const fn shown_as(c: char) -> char {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
        _ => '_',
    }
}

/// What the files of a lock tell of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) space: Space,
    pub(crate) name: String,
    /// Whether that is all of it, as the hash proves.
    pub(crate) is_whole: bool,
}

impl Shown {
    /// `None` of a file that is no lock's.
    pub(crate) fn in_stem(stem: &str) -> Option<Self> {
        let (space, rest) = stem.split_once('-')?;
        let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
        let space = spaces.into_iter().find(|known| known.as_str() == space)?;
        let (name, hash) = rest.rsplit_once('-')?;
        if hash.len() != HASH {
            return None;
        }
        let id = LockId::new(space, Name::new(name).ok()?);
        Some(Self {
            space,
            name: name.to_owned(),
            is_whole: Names::of(&id).stem == stem,
        })
    }

    /// Whether the name begins so, or may: what is not shown can be anything.
    pub(crate) fn may_begin_with(&self, beginning: &str) -> bool {
        if self.is_whole {
            return self.name.starts_with(beginning);
        }
        let shown = beginning.chars().take(SHOWN).map(shown_as);
        let shown: String = shown.collect();
        self.name.starts_with(&shown)
    }
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

    fn shown(space: Space, name: &str) -> Shown {
        let id = LockId::new(space, Name::new(name).unwrap());
        Shown::in_stem(Names::of(&id).stem()).unwrap()
    }

    #[test]
    fn a_plain_name_is_read_from_its_file_and_another_in_part() {
        for space in [Space::Mutex, Space::RwLock, Space::Semaphore] {
            let plain = shown(space, "nightly-report-2");
            assert_eq!((plain.space, plain.is_whole), (space, true));
            assert_eq!(plain.name, "nightly-report-2");
        }
        let strange = shown(Space::Mutex, "invoices/2026");
        assert_eq!(
            (strange.name.as_str(), strange.is_whole),
            ("invoices_2026", false)
        );
        let long = shown(Space::Mutex, &"x".repeat(33));
        assert_eq!((long.name.len(), long.is_whole), (32, false));
        for other in [
            "",
            "mutex",
            "mutex-a-b",
            "thing-a-qe5gqesde2oy63niinvgto5fdo247g4z",
        ] {
            assert_eq!(Shown::in_stem(other), None, "{other}");
        }
    }

    #[test]
    fn what_may_begin_so_is_told_from_what_cannot() {
        assert!(shown(Space::Mutex, "abc").may_begin_with("ab"));
        assert!(!shown(Space::Mutex, "abc").may_begin_with("b"));
        assert!(shown(Space::Mutex, "a/bc").may_begin_with("a/b"));
        assert!(!shown(Space::Mutex, "a/bc").may_begin_with("b/"));
        let long = "x".repeat(40);
        assert!(shown(Space::Mutex, &long).may_begin_with(&long));
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
