//! Whether somebody between us and the server gives each transaction another connection.
//!
//! Such a pooler has one connection serve two clients by turns. So two connections of ours are
//! compared: what one leaves behind on its session, the other must never find; and it must find it
//! there itself, also while the other is in the middle of a transaction.

use crate::{
    errors::{pooled, refused},
    settings,
};
use lockwork_core::lock::{Error, Result};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, PgConnection, Row, postgres::PgConnectOptions, raw_sql,
};
use std::time::Duration;

/// How often to compare. A pooler gives out the connection it got back last, so the first time
/// shows it; other clients of the pooler may be in the way.
const TIMES: usize = 3;

/// How long a statement may take while the other is in a transaction: a pooler may have one
/// connection only.
const ANSWER: Duration = Duration::from_secs(1);

/// Refuses a pooler in transaction mode between us and the server that `one` is connected to.
pub(crate) async fn refuse(one: &mut PgConnection, options: &PgConnectOptions) -> Result<()> {
    let mut other = options.connect().await.map_err(refused)?;
    let compared = compare(one, &mut other).await;
    settings::close(other).await;
    match compared? {
        true => Ok(()),
        false => {
            let (kind, message) = pooled();
            Err(Error::new(kind, message))
        }
    }
}

/// Whether both have a session of their own.
async fn compare(one: &mut PgConnection, other: &mut PgConnection) -> Result<bool> {
    for _ in 0..TIMES {
        let mark = format!("{:032x}", rand::random::<u128>());
        let leave = format!("SELECT set_config('lockwork.mark', '{mark}', false)");
        one.execute(raw_sql(AssertSqlSafe(leave)))
            .await
            .map_err(refused)?;
        other.execute(raw_sql("BEGIN")).await.map_err(refused)?;
        let found_there = mark_of(other).await?;
        let found_here = tokio::time::timeout(ANSWER, mark_of(one)).await;
        other.execute(raw_sql("COMMIT")).await.map_err(refused)?;
        let is_own = found_here.is_ok_and(|found| found.is_ok_and(|found| found == mark));
        if found_there == mark || !is_own {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn mark_of(connection: &mut PgConnection) -> Result<String> {
    let text = "SELECT coalesce(current_setting('lockwork.mark', true), '')";
    let row = connection.fetch_one(raw_sql(text)).await.map_err(refused)?;
    row.try_get(0).map_err(refused)
}
