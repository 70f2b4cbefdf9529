//! Taking a lock away: the server cannot do that to one lock, only end the session it lives on.

use crate::{connect::Link, errors::refused, holders, keys::Key, options::literal};
use lockwork_core::lock::{Result, Space};
use std::time::Duration;

/// A session that is ended is gone a moment later; the server tells nobody when.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// No such session: it has ended by itself.
const GONE: u32 = 6106;

/// Ends the sessions that hold the lock, and says how many held it.
pub(crate) async fn end(link: &mut Link, key: &Key, space: Space) -> Result<usize> {
    let held = holders::sessions(link, key, space).await?;
    let mut each = held.clone();
    each.dedup();
    for session in &each {
        // KILL takes no parameters. By then the number may be another's, who came when the holder had gone.
        let text = format!(
            "IF EXISTS (SELECT 1 FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' \
             AND resource_database_id = DB_ID() AND request_session_id = {session} \
             AND CHARINDEX({}, resource_description) > 0) KILL {session}",
            literal(&key.shown())
        );
        match link.run(&text).await {
            Err(error) if error.code() == Some(GONE) => {}
            done => done.map_err(refused)?,
        }
    }
    while holders::sessions(link, key, space)
        .await?
        .iter()
        .any(|session| each.contains(session))
    {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(held.len())
}
