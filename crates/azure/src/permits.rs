//! Taking a permit of a semaphore: a lease on one of its blobs, of which there is one for each permit.
//! One request where the first that is tried is free; where it is not, a list of them all says which are.

use crate::{
    blobs::is_leased,
    names,
    record::Record,
    refusal::Said,
    server::{Lease, Server},
};
use lockwork_core::lock::backend::{
    lease::{Take, Verdict},
    line::Failure,
};
use std::{
    collections::BTreeSet,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Where owners begin to look is spread over so many permits: more would leave more blobs than are used.
const SPREAD: u32 = 16;

/// So many are tried of those that a list shows as free.
const MOST: usize = 8;

pub(crate) async fn take(server: &Server, lease: &Lease, of: NonZeroU32) -> Result<Take, Failure> {
    let mut asked_twice = false;
    if let Some(taken) = lease.taken.get() {
        // Asked for anew by whoever was granted it: that one is meant, or none.
        let is_ours = lease_one(server, lease, taken.clone(), &mut asked_twice).await?;
        let busy = Verdict::Busy(Some(Duration::ZERO));
        let verdict = if is_ours {
            Verdict::Granted(None)
        } else {
            busy
        };
        return Ok(Take {
            verdict,
            asked_twice,
        });
    }
    let first = first_of(lease, of);
    if lease_one(
        server,
        lease,
        names::permit(&lease.blob, first),
        &mut asked_twice,
    )
    .await?
    {
        return Ok(granted(asked_twice));
    }
    let free = free(server, lease, of).await?;
    let none = free.is_empty();
    for number in free {
        let blob = names::permit(&lease.blob, number);
        if lease_one(server, lease, blob, &mut asked_twice).await? {
            return Ok(granted(asked_twice));
        }
    }
    // Where others were quicker for some, there may be more.
    let again_in = (!none).then_some(Duration::ZERO);
    Ok(Take {
        verdict: Verdict::Busy(again_in),
        asked_twice,
    })
}

/// A permit has no token.
const fn granted(asked_twice: bool) -> Take {
    Take {
        verdict: Verdict::Granted(None),
        asked_twice,
    }
}

/// The same for each try of one owner: so one that was granted it without hearing of it finds it again.
fn first_of(lease: &Lease, of: NonZeroU32) -> u32 {
    let [a, b, c, d, ..] = *lease.owner.as_bytes();
    u32::from_le_bytes([a, b, c, d]) % of.get().min(SPREAD)
}

/// Those that nobody has, as it seems, or that were never used.
async fn free(server: &Server, lease: &Lease, of: NonZeroU32) -> Result<Vec<u32>, Failure> {
    let listed = server.blobs.list(&lease.blob).await;
    let listed = listed.map_err(|refusal| refusal.failure())?;
    let mut free = Vec::new();
    let mut known = BTreeSet::new();
    for item in &listed {
        let name = item.name.as_deref().unwrap_or_default();
        let Some(number) = names::number_of(&lease.blob, name) else {
            continue;
        };
        known.insert(number);
        if number < of.get() && !is_leased(item) {
            free.push(number);
        }
    }
    let unused = (0..of.get()).filter(|number| !known.contains(number));
    free.extend(unused.take(MOST));
    // Not all in one order, lest all who wait want the same one.
    let turn = free.len().max(1);
    free.rotate_left(first_of(lease, of) as usize % turn);
    free.truncate(MOST);
    Ok(free)
}

/// Whether it is ours now.
async fn lease_one(
    server: &Server,
    lease: &Lease,
    blob: Arc<str>,
    asked_twice: &mut bool,
) -> Result<bool, Failure> {
    for _ in 0..2 {
        let asked = server
            .blobs
            .acquire(&blob, &lease.lease_id(), lease.seconds(), None)
            .await;
        *asked_twice |= asked.twice;
        match asked.answer {
            Ok(()) => {
                let _ = lease.taken.set(blob);
                return Ok(true);
            }
            Err(refusal) => match refusal.said {
                Said::Leased => return Ok(false),
                Said::NoBlob => create(server, lease, &blob).await?,
                _ => return Err(refusal.failure()),
            },
        }
    }
    Ok(false)
}

async fn create(server: &Server, lease: &Lease, blob: &str) -> Result<(), Failure> {
    let record = Record::new(0, lease.owner, SystemTime::now());
    match server.blobs.create(blob, &record).await {
        Ok(_) => Ok(()),
        Err(refusal) if refusal.said == Said::Exists => Ok(()),
        Err(refusal) => Err(refusal.failure()),
    }
}
