//! Who holds a lock, and taking it from them.

use crate::{
    blobs::is_leased,
    names,
    record::Record,
    refusal::{Refusal, Said},
    server::Server,
};
use lockwork_core::lock::{Holder, Holders, LockId, Mode, OwnerId, Result, Space, Token};
use std::num::NonZeroU32;

pub(crate) async fn look(server: &Server, id: &LockId) -> Result<Holders> {
    let holders = match id.space {
        Space::Semaphore => of_semaphore(server, id).await?,
        _ => of_mutex(server, id).await?.into_iter().collect(),
    };
    Ok(Holders::new(holders, Vec::new()))
}

async fn of_mutex(server: &Server, id: &LockId) -> Result<Option<Holder>> {
    let seen = match server.blobs.look(&names::blob_of(&server.prefix, id)).await {
        Ok(seen) => seen,
        Err(refusal) if refusal.said == Said::NoBlob => return Ok(None),
        Err(refusal) => return Err(refusal.error),
    };
    if !seen.is_leased {
        return Ok(None);
    }
    // The number of a page blob says nothing of whose it is.
    if let Some(number) = seen.sequence {
        let mut holder = Holder::new(unknown(0), Mode::Exclusive);
        holder.token = u64::try_from(number).ok().and_then(Token::from_server);
        return Ok(Some(holder));
    }
    let record = Record::read(&seen.metadata)?;
    let mut holder = Holder::new(record.owner, Mode::Exclusive);
    holder.token = Token::from_server(record.token);
    holder.since = record.since;
    holder.client = record.client;
    Ok(Some(holder))
}

async fn of_semaphore(server: &Server, id: &LockId) -> Result<Vec<Holder>> {
    let held = permits(server, id).await?.into_iter();
    let mode = Mode::Permit {
        of: NonZeroU32::MIN,
    };
    Ok(held
        .map(|number| Holder::new(unknown(number), mode))
        .collect())
}

/// The permits that somebody has.
async fn permits(server: &Server, id: &LockId) -> Result<Vec<u32>> {
    let semaphore = names::blob_of(&server.prefix, id);
    let listed = server.blobs.list(&semaphore).await;
    let listed = listed.map_err(|refusal| refusal.error)?;
    let held = listed.iter().filter(|item| is_leased(item));
    let number = |name: &str| names::number_of(&semaphore, name);
    Ok(held
        .filter_map(|item| number(item.name.as_deref()?))
        .collect())
}

/// Nothing is written down of who has a permit: its number tells them apart.
fn unknown(number: u32) -> OwnerId {
    OwnerId::from_bytes(u128::from(number).to_be_bytes())
}

pub(crate) async fn break_all(server: &Server, id: &LockId) -> Result<usize> {
    let blob = names::blob_of(&server.prefix, id);
    if id.space != Space::Semaphore {
        return broken(server.blobs.break_now(&blob).await).map(usize::from);
    }
    let mut count = 0;
    for number in permits(server, id).await? {
        let permit = names::permit(&blob, number);
        count += usize::from(broken(server.blobs.break_now(&permit).await)?);
    }
    Ok(count)
}

/// Whether there was something to break.
fn broken(answer: std::result::Result<(), Refusal>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(refusal) => match refusal.said {
            Said::NotOurs | Said::NoBlob => Ok(false),
            _ => Err(refusal.error),
        },
    }
}
