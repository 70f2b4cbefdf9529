//! Removing the blobs of locks that nobody uses any more.
//!
//! Each is removed under its own lease, so never while somebody has it. Tokens rise across it: the next
//! blob begins with the server's clock, and one whose last token is not well behind that stays.

use crate::{
    blobs::{is_leased, written_at},
    names,
    record::{self, Record},
    refusal::Said,
    server::Server,
    times,
};
use azure_storage_blob::models::BlobItem;
use lockwork_core::lock::{OwnerId, Result};
use std::time::{Duration, SystemTime};

/// The server tells its time in whole seconds, and ours may be a little off.
const MARGIN: Duration = Duration::from_secs(5);

/// The shortest lease there is: nobody needs it for long.
const SECONDS: i32 = 15;

pub(crate) async fn all(server: &Server, idle: Duration) -> Result<usize> {
    let listed = server.blobs.list(&names::all(&server.prefix)).await;
    let listed = listed.map_err(|refusal| refusal.error)?;
    let now = SystemTime::now();
    let mut count = 0;
    for item in listed.iter().filter(|item| is_idle(item, idle, now)) {
        let name = item.name.as_deref().unwrap_or_default();
        count += usize::from(remove(server, name, item).await?);
    }
    Ok(count)
}

fn is_idle(item: &BlobItem, idle: Duration, now: SystemTime) -> bool {
    let past = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    let rests = written_at(item).is_some_and(|at| past(at) >= idle);
    rests && !is_leased(item) && is_behind(item, now)
}

/// Whether a blob that is made after this one begins higher than it ends. Not so for what is not ours.
fn is_behind(item: &BlobItem, now: SystemTime) -> bool {
    let Some(metadata) = &item.metadata else {
        return false;
    };
    let metadata = metadata.values.clone().unwrap_or_default();
    let Ok(record) = Record::read(&metadata) else {
        return false;
    };
    let sequence = item
        .properties
        .as_ref()
        .and_then(|about| about.blob_sequence_number);
    let counted = sequence.and_then(|number| u64::try_from(number).ok());
    let margin = u64::try_from(MARGIN.as_millis()).unwrap_or(u64::MAX);
    record
        .token
        .max(counted.unwrap_or(0))
        .saturating_add(margin)
        < times::millis(now)
}

/// Whether it was removed, and not taken or written to meanwhile.
async fn remove(server: &Server, name: &str, item: &BlobItem) -> Result<bool> {
    let etag = item
        .properties
        .as_ref()
        .and_then(|about| about.etag.clone());
    let lease = record::lease_id(OwnerId::random());
    let asked = server
        .blobs
        .acquire(name, &lease, SECONDS, etag.as_ref())
        .await;
    match asked.answer {
        Ok(()) => {}
        Err(refusal) => {
            return match refusal.said {
                Said::Leased | Said::Changed | Said::NoBlob => Ok(false),
                _ => Err(refusal.error),
            };
        }
    }
    server.cache.forget(name);
    match server.blobs.delete(name, &lease).await {
        Ok(()) => Ok(true),
        Err(refusal) if refusal.said == Said::NoBlob => Ok(true),
        Err(refusal) => {
            // Who may not remove it must not keep others from it.
            let _ = server.blobs.release(name, &lease).await;
            Err(refusal.error)
        }
    }
}
