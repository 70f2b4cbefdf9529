//! Taking a mutex whose tokens are the sequence numbers of a page blob: the server counts, under the
//! lease, so nothing need be known of the blob before. Nothing is written down of who holds it.

use crate::{
    mutex::{give_back, overflow},
    record::Record,
    refusal::Said,
    server::{Lease, Server},
    times,
};
use lockwork_core::lock::{
    Token,
    backend::{
        lease::{Take, Verdict},
        line::Failure,
    },
};
use std::time::{Duration, SystemTime};

/// Missing, and then created by somebody who was quicker; and once more.
const ROUNDS: usize = 3;

pub(crate) async fn take(server: &Server, lease: &Lease) -> Result<Take, Failure> {
    let mut asked_twice = false;
    for _ in 0..ROUNDS {
        let asked = server
            .blobs
            .acquire(&lease.blob, &lease.lease_id(), lease.seconds(), None)
            .await;
        asked_twice |= asked.twice;
        let verdict = match asked.answer {
            Ok(()) => match count(server, lease).await? {
                Some(verdict) => verdict,
                None => continue,
            },
            Err(refusal) => match refusal.said {
                Said::Leased => Verdict::Busy(None),
                Said::NoBlob => {
                    create(server, lease, refusal.date).await?;
                    continue;
                }
                _ => return Err(refusal.failure()),
            },
        };
        return Ok(Take {
            verdict,
            asked_twice,
        });
    }
    Ok(Take {
        verdict: Verdict::Busy(Some(Duration::ZERO)),
        asked_twice,
    })
}

async fn create(server: &Server, lease: &Lease, date: Option<SystemTime>) -> Result<(), Failure> {
    let now = SystemTime::now();
    let first = times::first_token(date, now);
    let record = Record::new(first, lease.owner, now);
    let first = i64::try_from(first).map_err(|_| Failure::NotDone(overflow()))?;
    match server
        .blobs
        .create_counted(&lease.blob, first, &record)
        .await
    {
        Ok(()) => Ok(()),
        Err(refusal) if refusal.said == Said::Exists => Ok(()),
        Err(refusal) => Err(refusal.failure()),
    }
}

/// The token; `None` if the lease ended before it was there.
async fn count(server: &Server, lease: &Lease) -> Result<Option<Verdict>, Failure> {
    match server.blobs.count(&lease.blob, &lease.lease_id()).await {
        Ok(number) => {
            let token = u64::try_from(number).ok().and_then(Token::from_server);
            let token = token.ok_or_else(|| Failure::NotDone(overflow()))?;
            let _ = lease.taken.set(lease.blob.clone());
            Ok(Some(Verdict::Granted(Some(token))))
        }
        Err(refusal) => {
            if matches!(refusal.said, Said::NotOurs | Said::NoBlob) {
                return Ok(None);
            }
            give_back(server, lease).await;
            Err(refusal.failure())
        }
    }
}
