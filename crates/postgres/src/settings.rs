//! What a session is told when it begins.
//!
//! The server is to free the locks of whoever is gone when their lease is over: of a machine that was
//! cut off, by TCP keep-alives and time limits; of a process that is frozen, by
//! `idle_session_timeout`. A user without rights may set all of them. Defaults leave such a lock for
//! two hours, or for ever.

use crate::errors::refused;
use lockwork_core::lock::Result;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, raw_sql};
use std::time::Duration;

/// Prepares a session whose silence the server is to bear for `bears`, and not much longer.
pub(crate) async fn prepare(connection: &mut PgConnection, bears: Option<Duration>) -> Result<()> {
    let idle = bears.map_or(0, |bears| bears.as_millis());
    // Tokens need no disk: see `presence.rs`. The rest overrides what server or role may say.
    let settings = format!(
        "SET idle_session_timeout = {idle}; SET statement_timeout = 0; SET lock_timeout = 0; \
         SET idle_in_transaction_session_timeout = 0; SET synchronous_commit = off; \
         SET default_transaction_isolation = 'read committed'; \
         SET default_transaction_read_only = off; SET jit = off; \
         SET search_path = pg_catalog"
    );
    let settings = raw_sql(AssertSqlSafe(settings));
    connection.execute(settings).await.map_err(refused)?;
    let Some(bears) = bears else { return Ok(()) };
    let tcp = raw_sql(AssertSqlSafe(tcp(bears)));
    // Not every system has all of these.
    if let Err(error) = connection.execute(tcp).await {
        tracing::warn!(%error, "locks of a machine that is cut off stay for longer");
    }
    Ok(())
}

/// Never before `bears` is over, or a lock would be given away whose guard is still good; and about
/// a second after. Linux ends a connection by the time limit once a keep-alive is out (`tcp_timer.c`);
/// other systems count keep-alives.
fn tcp(bears: Duration) -> String {
    let limit = bears.as_millis();
    let idle = (bears.as_secs() / 3).max(1);
    let count = bears.as_secs().saturating_sub(idle) + 2;
    format!(
        "SET tcp_user_timeout = {limit}; SET tcp_keepalives_idle = {idle}; \
         SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = {count}; \
         SET client_connection_check_interval = 2000"
    )
}

/// Closes a connection that was only needed for a moment.
pub(crate) async fn close(connection: PgConnection) {
    // It is gone either way.
    let _ = connection.close().await;
}
