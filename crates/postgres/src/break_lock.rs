//! Taking a lock away: the server cannot do that to one lock, only end the session it lives on.

use crate::{errors::refused, holders, keys::Key};
use lockwork_core::lock::{Error, ErrorKind, Result, Space};
use sqlx::{PgConnection, Row};

/// How long a session may take to end, in milliseconds.
const ENDING: i64 = 4000;

/// Ends the sessions that hold the lock, and says how many held it.
pub(crate) async fn end(connection: &mut PgConnection, key: Key, space: Space) -> Result<usize> {
    let pids = holders::pids(connection, key, space).await?;
    let held = pids.len();
    let text = "SELECT pg_terminate_backend(pid, $2) FROM unnest($1::int4[]) AS t(pid)";
    let query = sqlx::query(text).bind(pids).bind(ENDING);
    let ended = query.fetch_all(connection).await.map_err(denied)?;
    for row in ended {
        if !row.try_get::<bool, _>(0).map_err(refused)? {
            tracing::debug!("a session was gone before it could be ended");
        }
    }
    Ok(held)
}

fn denied(error: sqlx::Error) -> Error {
    let error = refused(error);
    if error.kind() != ErrorKind::Denied {
        return error;
    }
    let message = "breaking a lock ends the session that holds it, which this role may not: use \
                   the role that holds it, or GRANT pg_signal_backend";
    Error::new(ErrorKind::Denied, message).because(error)
}
