//! What a session is told when it begins.
//!
//! The server is to free the locks of whoever is gone within seconds: of a machine that was cut off,
//! by TCP keep-alives and time limits; of a process that is frozen, by `idle_session_timeout`. A user
//! without rights may set all of them. Defaults leave such a lock for two hours, or for ever.

use crate::errors::refused;
use lockwork_core::lock::Result;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, raw_sql};
use std::time::Duration;

/// Bounds how long a lock outlives its process. Longer than a keep-alive needs on a bad day.
const TCP: &str = "SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; \
     SET tcp_keepalives_count = 3; SET tcp_user_timeout = 4000; \
     SET client_connection_check_interval = 2000";

/// Prepares a session whose silence the server is to bear for `bears`.
pub(crate) async fn prepare(connection: &mut PgConnection, bears: Option<Duration>) -> Result<()> {
    let bears = bears.map_or(0, |bears| bears.as_millis());
    // Tokens need no disk: see `schema.rs`. The rest overrides what server or role may say.
    let settings = format!(
        "SET idle_session_timeout = {bears}; SET statement_timeout = 0; SET lock_timeout = 0; \
         SET idle_in_transaction_session_timeout = 0; SET synchronous_commit = off; \
         SET default_transaction_isolation = 'read committed'; \
         SET default_transaction_read_only = off; SET jit = off; \
         SET search_path = pg_catalog"
    );
    let settings = raw_sql(AssertSqlSafe(settings));
    connection.execute(settings).await.map_err(refused)?;
    // Not every system has all of these.
    if let Err(error) = connection.execute(raw_sql(TCP)).await {
        tracing::warn!(%error, "locks of a machine that is cut off stay for longer");
    }
    Ok(())
}

/// Closes a connection that was only needed for a moment.
pub(crate) async fn close(connection: PgConnection) {
    // It is gone either way.
    let _ = connection.close().await;
}
