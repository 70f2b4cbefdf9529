//! What a lock's blob says of its last grant: its token and whose it was, in one piece of metadata.

use crate::times;
use lockwork_core::lock::{Error, ErrorKind, OwnerId, Result, backend::client};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    fmt::Write,
    time::{Duration, SystemTime},
};

/// Metadata names are identifiers of C#, and their case is not kept by all who pass them on.
const TOKEN: &str = "lockwork_token";
const OWNER: &str = "lockwork_owner";
const CLIENT: &str = "lockwork_client";
const SINCE: &str = "lockwork_since";

/// Of the last grant, or of who made the blob.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) token: u64,
    pub(crate) owner: OwnerId,
    pub(crate) client: Option<String>,
    pub(crate) since: Option<SystemTime>,
}

impl Record {
    /// Of a grant to `owner`, by this process.
    pub(crate) fn new(token: u64, owner: OwnerId, since: SystemTime) -> Self {
        Self {
            token,
            owner: shown(owner),
            client: Some(client::name().to_owned()),
            since: Some(since),
        }
    }

    pub(crate) fn is_of(&self, owner: OwnerId) -> bool {
        self.owner == shown(owner)
    }

    pub(crate) fn metadata(&self) -> HashMap<String, String> {
        let mut metadata = HashMap::from([
            (TOKEN.to_owned(), self.token.to_string()),
            (OWNER.to_owned(), hex(&self.owner)),
        ]);
        let client = self
            .client
            .clone()
            .map(|client| (CLIENT.to_owned(), client));
        let since = self.since.map(|since| times::millis(since).to_string());
        metadata.extend(client);
        metadata.extend(since.map(|since| (SINCE.to_owned(), since)));
        metadata
    }

    /// # Errors
    /// [`ErrorKind::Invalid`] if this is no blob of ours.
    pub(crate) fn read(metadata: &HashMap<String, String>) -> Result<Self> {
        let read = || {
            let get = |key: &str| {
                let mut pairs = metadata.iter();
                pairs.find_map(|(name, value)| name.eq_ignore_ascii_case(key).then_some(value))
            };
            let since = get(SINCE).and_then(|since| since.parse().ok());
            Some(Self {
                token: get(TOKEN)?.parse().ok()?,
                owner: OwnerId::from_hex(get(OWNER)?)?,
                client: get(CLIENT).cloned(),
                since: since.map(|millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis)),
            })
        };
        read().ok_or_else(|| {
            let message = "a blob that is no lock of lockwork's is in the place of this lock: remove it, \
                           or choose another prefix or container";
            Error::new(ErrorKind::Invalid, message)
        })
    }
}

/// Whoever knows an owner id can end its lease, and metadata is for everybody to read: so it has a hash.
fn shown(owner: OwnerId) -> OwnerId {
    let digest = Sha256::digest(owner.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    OwnerId::from_bytes(bytes)
}

fn hex(owner: &OwnerId) -> String {
    owner
        .as_bytes()
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The id of the lease that an owner asks for: the same in each try, so that a server that has granted
/// it says so again.
pub(crate) fn lease_id(owner: OwnerId) -> String {
    let digits = hex(&owner);
    let (a, b, c, d, e) = (
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    );
    format!("{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let owner = OwnerId::random();
        let since = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123);
        let record = Record::new(17, owner, since);
        let read = Record::read(&record.metadata()).expect("a record");
        assert!(read.is_of(owner) && !read.is_of(OwnerId::random()));
        assert_eq!((read.token, read.since), (17, Some(since)));
        assert_eq!(read.client.as_deref(), Some(client::name()));
    }

    #[test]
    fn the_case_of_names_does_not_matter() {
        let record = Record::new(17, OwnerId::random(), SystemTime::UNIX_EPOCH);
        let upper = |(name, value): (String, String)| (name.to_uppercase(), value);
        let metadata = record.metadata().into_iter().map(upper).collect();
        assert_eq!(
            Record::read(&metadata).map(|read| read.token).ok(),
            Some(17)
        );
    }

    #[test]
    fn nobody_who_reads_the_metadata_can_end_the_lease() {
        let owner = OwnerId::random();
        let id = lease_id(owner).replace('-', "");
        let metadata = Record::new(1, owner, SystemTime::UNIX_EPOCH).metadata();
        assert!(metadata.values().all(|value| !value.contains(&id[..12])));
    }

    #[test]
    fn a_blob_of_somebody_else_is_no_lock() {
        let theirs = HashMap::from([("author".to_owned(), "somebody".to_owned())]);
        assert_eq!(
            Record::read(&theirs).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }

    #[test]
    fn a_lease_id_has_the_form_that_the_server_wants() {
        let owner = OwnerId::from_bytes([0xab; 16]);
        assert_eq!(lease_id(owner), "abababab-abab-abab-abab-abababababab");
    }
}
