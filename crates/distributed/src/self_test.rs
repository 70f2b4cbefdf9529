//! Whether the lock server really keeps two apart, before anything relies on it.

use crate::{error::of_lock, options::DistributedOptions, releases::Releases};
use lockwork_core::{
    lock::{Guard, LockOptions, Locks, Wait},
    workflow::{Error, ErrorKind, Result},
};
use std::time::Duration;

/// Longer than a server takes that works.
const LIMIT: Duration = Duration::from_secs(10);

/// Takes a lock, and has the witness try. In front of each `Locks` is a line of its own, so what answers the witness is the
/// server and not this process.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) if both were granted it, or the server does not give it to one after the other.
pub(crate) async fn run(
    locks: &Locks,
    witness: &Locks,
    options: &DistributedOptions,
    releases: &Releases,
) -> Result<()> {
    let key = format!("lockwork-self-test:{:016x}", rand::random::<u64>());
    let patiently = LockOptions::new()
        .wait(Wait::For(LIMIT))
        .lease(options.lease);
    let mine = take(locks, &key, patiently).await?;
    let mine = mine.ok_or_else(|| refused("a lock that nobody has was not granted"))?;
    if take(witness, &key, options.at_once()).await?.is_some() {
        return Err(refused(
            "two connections were granted the same lock: they lead to different servers, or to one that keeps nobody out",
        ));
    }
    let before = mine.token();
    releases.now(mine).await;
    let theirs = take(witness, &key, patiently).await?;
    let theirs = theirs.ok_or_else(|| refused("a lock that was given back was not granted"))?;
    // Some backends have none.
    if before.is_some() && theirs.token() <= before {
        return Err(refused("the tokens of a lock do not rise"));
    }
    releases.now(theirs).await;
    Ok(())
}

async fn take(locks: &Locks, key: &str, options: LockOptions) -> Result<Option<Guard>> {
    let taken = locks.mutex(key).lock_with(options).await;
    taken.map_err(|error| of_lock(error, key))
}

fn refused(why: &'static str) -> Error {
    let message =
        "these locks cannot be relied on: check their URL and what `lockwork doctor` says of it";
    Error::new(ErrorKind::Denied, message).with("why", why)
}
