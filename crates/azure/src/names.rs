//! Which blob a lock is in.
//!
//! `PREFIX/1/SPACE/SHOWN-HASH`: a readable beginning for people who look into the container, and a hash
//! that decides. A permit of a semaphore has a blob of its own, with its number behind that.

use lockwork_core::lock::{LockId, Name, Space};
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::Arc};

/// A change in what follows is another number here: locks of two formats do not exclude each other.
const FORMAT: &str = "1";

/// How much of a lock's name is shown.
const SHOWN: usize = 64;

/// The blob of a mutex, and what the blobs of a semaphore's permits begin with.
pub(crate) fn blob_of(prefix: &str, id: &LockId) -> Arc<str> {
    let mut blob = format!("{prefix}/{FORMAT}/{}/", id.space.as_str());
    blob.extend(id.name.as_str().chars().take(SHOWN).map(shown_as));
    blob.push('-');
    for byte in &Sha256::digest(id.name.as_str().as_bytes())[..20] {
        // Writing to a string does not fail.
        let _ = write!(blob, "{byte:02x}");
    }
    if id.space == Space::Semaphore {
        blob.push('/');
    }
    blob.into()
}

/// What a character of a name is in a blob's name.
const fn shown_as(c: char) -> char {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
        _ => '_',
    }
}

/// What a lock's blob tells of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) space: Space,
    pub(crate) name: String,
    /// Whether that is all of it, as the hash proves.
    pub(crate) is_whole: bool,
    /// The blob of a mutex, and what the blobs of a semaphore's permits begin with.
    pub(crate) blob: String,
}

impl Shown {
    /// `None` of a blob that is no lock's.
    pub(crate) fn in_blob(prefix: &str, blob: &str) -> Option<Self> {
        let (space, rest) = blob.strip_prefix(&all(prefix))?.split_once('/')?;
        let spaces = [Space::Mutex, Space::Semaphore];
        let space = spaces.into_iter().find(|known| known.as_str() == space)?;
        // A permit's number is none of the name.
        let end = match space {
            Space::Semaphore => rest.find('/')?,
            _ => rest.len(),
        };
        let (name, _) = rest[..end].rsplit_once('-')?;
        let blob = &blob[..blob.len() - rest.len() + (end + 1).min(rest.len())];
        let id = LockId::new(space, Name::new(name).ok()?);
        Some(Self {
            space,
            name: name.to_owned(),
            is_whole: *blob_of(prefix, &id) == *blob,
            blob: blob.to_owned(),
        })
    }

    /// Whether the name begins so, or may: what is not shown can be anything.
    pub(crate) fn may_begin_with(&self, beginning: &str) -> bool {
        if self.is_whole {
            return self.name.starts_with(beginning);
        }
        let shown: String = beginning.chars().take(SHOWN).map(shown_as).collect();
        self.name.starts_with(&shown)
    }
}

/// The blob of one permit.
pub(crate) fn permit(semaphore: &str, number: u32) -> Arc<str> {
    format!("{semaphore}{number}").into()
}

/// The number of a permit, if that is what a blob is for.
pub(crate) fn number_of(semaphore: &str, blob: &str) -> Option<u32> {
    blob.strip_prefix(semaphore)?.parse().ok()
}

/// What all blobs of ours begin with.
pub(crate) fn all(prefix: &str) -> String {
    format!("{prefix}/{FORMAT}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(space: Space, name: &str) -> LockId {
        LockId::new(space, Name::new(name).expect("a name"))
    }

    #[test]
    fn the_blob_of_a_name_never_changes() {
        assert_eq!(
            &*blob_of("lockwork", &id(Space::Mutex, "invoices/2026-08")),
            "lockwork/1/mutex/invoices_2026-08-813a681243269d8f6da8436a69bba51bb5cf9b99"
        );
    }

    #[test]
    fn different_names_are_in_different_blobs() {
        let names = ["a/b", "a_b", "a b", "A_b", "ä", "a\u{308}"];
        let blobs = names.map(|name| blob_of("p", &id(Space::Mutex, name)));
        for (at, blob) in blobs.iter().enumerate() {
            assert!(!blobs[..at].contains(blob), "{blob}");
        }
    }

    #[test]
    fn a_long_name_fits() {
        let blob = blob_of("lockwork", &id(Space::Semaphore, &"ä".repeat(512)));
        assert!(permit(&blob, u32::MAX).len() <= 1024 && blob.is_ascii());
    }

    #[test]
    fn a_plain_name_is_read_from_its_blob_and_another_in_part() {
        let mutex = blob_of("p/q", &id(Space::Mutex, "nightly-2"));
        let shown = Shown::in_blob("p/q", &mutex).expect("a lock");
        assert_eq!((shown.name.as_str(), shown.is_whole), ("nightly-2", true));
        assert_eq!(*shown.blob, *mutex);
        let semaphore = blob_of("p", &id(Space::Semaphore, "a/b"));
        let shown = Shown::in_blob("p", &permit(&semaphore, 17)).expect("a lock");
        assert_eq!((shown.name.as_str(), shown.is_whole), ("a_b", false));
        assert_eq!((shown.space, &*shown.blob), (Space::Semaphore, &*semaphore));
        assert!(shown.may_begin_with("a/") && !shown.may_begin_with("b"));
        for other in [
            "",
            "p/1/mutex/",
            "p/2/mutex/a-b",
            "p/1/thing/a-b",
            "q/1/mutex/a-b",
        ] {
            assert_eq!(Shown::in_blob("p", other), None, "{other}");
        }
    }

    #[test]
    fn a_permit_is_known_by_its_number() {
        let semaphore = blob_of("p", &id(Space::Semaphore, "s"));
        assert_eq!(number_of(&semaphore, &permit(&semaphore, 17)), Some(17));
        assert_eq!(number_of(&semaphore, &format!("{semaphore}x")), None);
        assert_eq!(number_of(&semaphore, "p/1/semaphore/other"), None);
    }
}
