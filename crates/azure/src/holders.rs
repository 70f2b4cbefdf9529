//! Who holds a lock, and taking it from them.

use crate::{
    blobs::is_leased,
    names::{self, Shown},
    record::Record,
    refusal::{Refusal, Said},
    server::Server,
};
use azure_storage_blob::models::{BlobItem, BlobType};
use lockwork_core::lock::{Held, Holder, Holders, LockId, Mode, OwnerId, Result, Space, Token};
use std::{collections::HashMap, num::NonZeroU32};

pub(crate) async fn look(server: &Server, id: &LockId) -> Result<Holders> {
    let holders = match id.space {
        Space::Semaphore => of_semaphore(server, id).await?,
        _ => {
            let blob = names::blob_of(&server.prefix, id);
            of_mutex(server, &blob).await?.into_iter().collect()
        }
    };
    Ok(Holders::new(holders, Vec::new()))
}

async fn of_mutex(server: &Server, blob: &str) -> Result<Option<Holder>> {
    let seen = match server.blobs.look(blob).await {
        Ok(seen) => seen,
        Err(refusal) if refusal.said == Said::NoBlob => return Ok(None),
        Err(refusal) => return Err(refusal.error),
    };
    match seen.is_leased {
        true => of_leased(&seen.metadata, seen.sequence).map(Some),
        false => Ok(None),
    }
}

/// Who holds a mutex whose blob is leased.
fn of_leased(metadata: &HashMap<String, String>, sequence: Option<i64>) -> Result<Holder> {
    // The number of a page blob says nothing of whose it is.
    if let Some(number) = sequence {
        let mut holder = Holder::new(unknown(0), Mode::Exclusive);
        holder.token = u64::try_from(number).ok().and_then(Token::from_server);
        return Ok(holder);
    }
    let record = Record::read(metadata)?;
    let mut holder = Holder::new(record.owner, Mode::Exclusive);
    holder.token = Token::from_server(record.token);
    holder.since = record.since;
    holder.client = record.client;
    Ok(holder)
}

async fn of_semaphore(server: &Server, id: &LockId) -> Result<Vec<Holder>> {
    let held = permits(server, id).await?.into_iter();
    Ok(held.map(of_permit).collect())
}

fn of_permit(number: u32) -> Holder {
    let of = NonZeroU32::MIN;
    Holder::new(unknown(number), Mode::Permit { of })
}

/// Which locks are held whose names begin so, or may.
pub(crate) async fn all(server: &Server, beginning: &str) -> Result<Vec<Held>> {
    let listed = server.blobs.list(&names::all(&server.prefix)).await;
    let listed = listed.map_err(|refusal| refusal.error)?;
    let mut all: Vec<(String, Held)> = Vec::new();
    for item in listed.iter().filter(|item| is_leased(item)) {
        let name = item.name.as_deref().unwrap_or_default();
        let Some(shown) = Shown::in_blob(&server.prefix, name) else {
            continue;
        };
        let Some(holder) = listed_holder(server, &shown, name, item).await? else {
            continue;
        };
        match all.iter_mut().find(|(blob, _)| *blob == shown.blob) {
            // The permits of one semaphore.
            Some((_, held)) => held.holders.holders.push(holder),
            None if shown.may_begin_with(beginning) => {
                all.push((shown.blob.clone(), held(shown, holder)));
            }
            None => {}
        }
    }
    Ok(all.into_iter().map(|(_, held)| held).collect())
}

fn held(shown: Shown, holder: Holder) -> Held {
    let holders = Holders::new(vec![holder], Vec::new());
    match shown.is_whole {
        true => Held::whole(shown.space, shown.name, holders),
        false => Held::beginning(shown.space, shown.name, holders),
    }
}

/// Who has a blob in a list that is leased; `None` of what is no lock of ours, for that hides none.
async fn listed_holder(
    server: &Server,
    shown: &Shown,
    name: &str,
    item: &BlobItem,
) -> Result<Option<Holder>> {
    if shown.space == Space::Semaphore {
        return Ok(names::number_of(&shown.blob, name).map(of_permit));
    }
    let about = item.properties.as_ref();
    if about.is_some_and(|about| about.blob_type == Some(BlobType::PageBlob)) {
        // A list may have an older number than the blob.
        return of_mutex(server, name).await;
    }
    let metadata = item.metadata.as_ref().and_then(|all| all.values.as_ref());
    Ok(metadata.and_then(|metadata| of_leased(metadata, None).ok()))
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
