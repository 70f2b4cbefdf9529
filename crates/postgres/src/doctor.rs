//! Looking at the deployment.

use crate::{errors::refused, options::Options, schema};
use lockwork_core::lock::{Finding, Report, Result, Severity};
use sqlx::{Executor, PgConnection, Row, raw_sql};

/// How much of the server's room for locks may be taken before that is worth a word.
const FULL: i64 = 2;

pub(crate) async fn examine(connection: &mut PgConnection, options: &Options) -> Result<Report> {
    let mut findings = Vec::new();
    findings.extend(replicas(connection).await?);
    findings.extend(room(connection).await?);
    if !options.tokens {
        findings.push(Finding::new(
            Severity::Warning,
            "grants have no tokens, so nothing can fence off a holder that was replaced",
            format!(
                "have an administrator run `{}` and leave tokens=false away",
                schema::script(options)
            ),
        ));
    }
    Ok(Report::new(findings))
}

/// Advisory locks are not replicated: at a failover every lock is free.
async fn replicas(connection: &mut PgConnection) -> Result<Option<Finding>> {
    let text = "SELECT (SELECT count(*) FROM pg_stat_replication), \
                current_setting('synchronous_standby_names') = ''";
    let row = connection.fetch_one(raw_sql(text)).await.map_err(refused)?;
    let replicas: i64 = row.try_get(0).map_err(refused)?;
    let none_waited_for: bool = row.try_get(1).map_err(refused)?;
    Ok((replicas > 0 && none_waited_for).then(|| {
        Finding::new(
            Severity::Warning,
            "there are replicas and none is synchronous: after a failover tokens can repeat",
            "set synchronous_standby_names, or keep what the locks protect in this same database",
        )
    }))
}

async fn room(connection: &mut PgConnection) -> Result<Option<Finding>> {
    let text = "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), \
        current_setting('max_locks_per_transaction')::int8 * \
        current_setting('max_connections')::int8";
    let row = connection.fetch_one(raw_sql(text)).await.map_err(refused)?;
    let (taken, room): (i64, i64) = (
        row.try_get(0).map_err(refused)?,
        row.try_get(1).map_err(refused)?,
    );
    Ok((taken > room / FULL).then(|| {
        Finding::new(
            Severity::Warning,
            format!("{taken} advisory locks fill more than half of the server's room for {room}"),
            "raise max_locks_per_transaction: where there is no room, nobody can connect either",
        )
    }))
}
