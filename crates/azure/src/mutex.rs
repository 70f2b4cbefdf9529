//! Taking a mutex: a lease on its blob, and under it the next token and whose it is, in one write.
//!
//! | what is known of the blob | requests |
//! |---|---|
//! | its ETag, and so its last token | lease if it is still that one, write |
//! | nothing, and it is there | look, lease, write |
//! | nothing, and it is missing | look, create with the first token as ours, lease |
//! | an ETag that is no more | lease (refused), look, lease, write |
//!
//! Leasing does not change an ETag, and writing does. So a lease that was granted for an ETag proves
//! that the token we know is the last one, and one asked for long ago that arrives late is refused, once
//! somebody has written.

use crate::{
    blobs::{Blobs, Seen},
    cache::{Cache, Known},
    record::Record,
    refusal::{Refusal, Said},
    server::{Lease, Server},
    times,
};
use lockwork_core::lock::{
    Error, ErrorKind, Token,
    backend::{
        lease::{Take, Verdict},
        line::Failure,
    },
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::sleep;

/// So often it may happen in one try that somebody else was quicker.
const ROUNDS: usize = 4;

/// Between two tries to bury a question, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What one round of a try brought.
enum Round {
    Over(Verdict),
    /// Somebody was quicker, or the blob was not what we took it for.
    Again,
}

pub(crate) async fn take(server: &Server, lease: &Lease) -> Result<Take, Failure> {
    let mut asked_twice = false;
    for _ in 0..ROUNDS {
        if let Round::Over(verdict) = round(server, lease, &mut asked_twice).await? {
            return Ok(Take {
                verdict,
                asked_twice,
            });
        }
    }
    Ok(Take {
        verdict: Verdict::Busy(Some(Duration::ZERO)),
        asked_twice,
    })
}

async fn round(server: &Server, lease: &Lease, asked_twice: &mut bool) -> Result<Round, Failure> {
    let known = match server.cache.get(&lease.blob) {
        Some(known) => known,
        None => match find(server, lease).await? {
            Ok(known) => known,
            Err(round) => return Ok(round),
        },
    };
    let asked = server
        .blobs
        .acquire(
            &lease.blob,
            &lease.lease_id(),
            lease.seconds(),
            Some(&known.etag),
        )
        .await;
    *asked_twice |= asked.twice;
    match asked.answer {
        Ok(()) => grant(server, lease, known, asked.twice).await,
        Err(refusal) => match refusal.said {
            Said::Leased => {
                server.cache.put(&lease.blob, known);
                Ok(Round::Over(Verdict::Busy(None)))
            }
            Said::Changed | Said::NoBlob => {
                server.turns.others(&lease.blob);
                server.cache.forget(&lease.blob);
                Ok(Round::Again)
            }
            _ => Err(refusal.failure()),
        },
    }
}

/// Looks at the blob, and creates it where it is missing; the round that is over by it, if one is.
async fn find(server: &Server, lease: &Lease) -> Result<Result<Known, Round>, Failure> {
    let blob = &lease.blob;
    match server.blobs.look(blob).await {
        Ok(Seen {
            is_leased,
            etag,
            metadata,
            ..
        }) => {
            let record = Record::read(&metadata).map_err(Failure::NotDone)?;
            let is_ours = record.is_of(lease.owner);
            let known = Known { etag, record };
            if is_leased && !is_ours {
                server.cache.put(blob, known);
                return Ok(Err(Round::Over(Verdict::Busy(None))));
            }
            Ok(Ok(known))
        }
        Err(refusal) if refusal.said == Said::NoBlob => {
            let now = SystemTime::now();
            let token = times::first_token(refusal.date, now);
            let record = Record::new(token, lease.owner, now);
            match server.blobs.create(blob, &record).await {
                Ok(etag) => Ok(Ok(Known { etag, record })),
                Err(refusal) if refusal.said == Said::Exists => Ok(Err(Round::Again)),
                Err(refusal) => Err(refusal.failure()),
            }
        }
        Err(refusal) => Err(refusal.failure()),
    }
}

/// The lease is ours. What is left is the token, unless that is ours already: we made the blob, or were
/// granted it before and did not hear of it.
async fn grant(
    server: &Server,
    lease: &Lease,
    known: Known,
    asked_twice: bool,
) -> Result<Round, Failure> {
    let blob = &lease.blob;
    // Where a question may still be on its way the ETag has to change, lest that be granted later.
    if known.record.is_of(lease.owner) && !asked_twice {
        return granted(server, lease, known);
    }
    let record = Record::new(known.record.token + 1, lease.owner, SystemTime::now());
    match server.blobs.write(blob, &lease.lease_id(), &record).await {
        Ok(etag) => granted(server, lease, Known { etag, record }),
        Err(refusal) => {
            server.cache.forget(blob);
            // It ended before the write: we were frozen, or it was broken.
            if matches!(refusal.said, Said::NotOurs | Said::NoBlob | Said::Exists) {
                return Ok(Round::Again);
            }
            give_back(server, lease).await;
            Err(refusal.failure())
        }
    }
}

fn granted(server: &Server, lease: &Lease, known: Known) -> Result<Round, Failure> {
    let token = Token::from_server(known.record.token).ok_or_else(|| Failure::NotDone(overflow()));
    server.cache.put(&lease.blob, known);
    let _ = lease.taken.set(lease.blob.clone());
    Ok(Round::Over(Verdict::Granted(Some(token?))))
}

/// Nobody will ever hold what was just leased.
pub(crate) async fn give_back(server: &Server, lease: &Lease) {
    let given = server.blobs.release(&lease.blob, &lease.lease_id()).await;
    if let Err(refusal) = given {
        let error = refusal.error;
        tracing::debug!(%error, lock = %lease.id, "a lease ends by itself");
    }
}

pub(crate) fn overflow() -> Error {
    let message = "the token in the blob of this lock is no number under 2^47: somebody else wrote it, or a \
                   server's clock is wrong by centuries; remove the blob";
    Error::new(ErrorKind::Invalid, message)
}

/// Sees to it that a question that may still be on its way is not granted: gives back what it may have
/// brought, and makes the blob another one.
///
/// Nobody but its holder can write to a blob that is leased, and one that has written will not do so
/// again: it is tried until it is done, for as long as what may be granted would last.
pub(crate) async fn bury(
    blobs: Arc<Blobs>,
    cache: Arc<Cache>,
    blob: Arc<str>,
    lease_id: String,
    time: Duration,
) {
    let known = cache.get(&blob);
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
    while !is_buried(&blobs, &blob, known.as_ref(), &lease_id).await && waited < time {
        sleep(pause).await;
        waited += pause;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    cache.forget(&blob);
}

/// Whether nothing can come of a question any more, after it was tried to make it so.
async fn is_buried(blobs: &Blobs, blob: &str, known: Option<&Known>, lease_id: &str) -> bool {
    let released = blobs.release(blob, lease_id).await;
    let touched = match known {
        Some(known) => blobs.touch(blob, known).await.map(drop),
        None => Ok(()),
    };
    let is_buried = !touched.as_ref().is_err_and(Refusal::may_pass);
    for refusal in [released.err(), touched.err()].into_iter().flatten() {
        // That it is not ours is what is to be expected.
        if matches!(refusal.said, Said::Later | Said::Refused | Said::Nothing) {
            let error = refusal.error;
            tracing::debug!(%error, "a lease that was asked for may be granted to nobody, for its time");
        }
    }
    is_buried
}
