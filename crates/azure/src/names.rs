//! Which blob a lock is in.
//!
//! `PREFIX/1/SPACE/SHOWN-HASH`: a readable beginning for people who look into the container, and a hash
//! that decides. A permit of a semaphore has a blob of its own, with its number behind that.

use lockwork_core::lock::{LockId, Space};
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::Arc};

/// A change in what follows is another number here: locks of two formats do not exclude each other.
const FORMAT: &str = "1";

/// How much of a lock's name is shown.
const SHOWN: usize = 64;

/// The blob of a mutex, and what the blobs of a semaphore's permits begin with.
pub(crate) fn blob_of(prefix: &str, id: &LockId) -> Arc<str> {
    let mut blob = format!("{prefix}/{FORMAT}/{}/", id.space.as_str());
    let shown = id.name.as_str().chars().take(SHOWN);
    blob.extend(shown.map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
        _ => '_',
    }));
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
    use lockwork_core::lock::Name;

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
    fn a_permit_is_known_by_its_number() {
        let semaphore = blob_of("p", &id(Space::Semaphore, "s"));
        assert_eq!(number_of(&semaphore, &permit(&semaphore, 17)), Some(17));
        assert_eq!(number_of(&semaphore, &format!("{semaphore}x")), None);
        assert_eq!(number_of(&semaphore, "p/1/semaphore/other"), None);
    }
}
