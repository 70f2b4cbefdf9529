//! Looking at the deployment.

use super::{
    contradiction,
    statement::{Argument, Statement},
};
use crate::{Options, errors::refused, presence::PRESENCE};
use lockwork_core::lock::{Finding, Report, Result, Severity};
use sqlx::{Row, postgres::PgRow};

/// How many rows that ran out may lie around before that is worth a word.
const MANY: i64 = 10_000;

pub(super) fn question(options: &Options) -> Statement {
    let text = "SELECT (SELECT count(*) FROM pg_stat_replication), \
          current_setting('synchronous_standby_names') = '', \
          (SELECT count(*) FROM SCHEMA.lease WHERE expires <= clock_timestamp()), \
          EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
            WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid::int8 = ? \
              AND l.objid <> 0 AND d.datname = current_database()), \
          current_setting('fsync')::bool";
    Statement::about(options, text, &[Argument::Number(i64::from(PRESENCE))])
}

pub(super) fn read(rows: &[PgRow]) -> Result<Report> {
    let row = rows.first().ok_or_else(contradiction)?;
    let replicas: i64 = row.try_get(0).map_err(refused)?;
    let none_waited_for: bool = row.try_get(1).map_err(refused)?;
    let expired: i64 = row.try_get(2).map_err(refused)?;
    let sessions: bool = row.try_get(3).map_err(refused)?;
    let fsync: bool = row.try_get(4).map_err(refused)?;
    let findings = [
        (replicas > 0 && none_waited_for).then(failover),
        (!fsync).then(forgets),
        sessions.then(both),
        (expired > MANY).then(|| leftovers(expired)),
    ];
    Ok(Report::new(findings.into_iter().flatten().collect()))
}

fn failover() -> Finding {
    Finding::new(
        Severity::Warning,
        "there are replicas and none is synchronous: after a failover a lock can be granted twice, \
         with the same token",
        "set synchronous_standby_names, or keep what the locks protect in this same database",
    )
}

fn forgets() -> Finding {
    Finding::new(
        Severity::Unsafe,
        "the server runs with fsync=off: after a crash a lock can be granted twice",
        "set fsync=on",
    )
}

fn both() -> Finding {
    Finding::new(
        Severity::Warning,
        "other processes take locks in this database without mode=lease: theirs and ours exclude \
         nobody of the others",
        "use one mode for all who share a name",
    )
}

fn leftovers(expired: i64) -> Finding {
    Finding::new(
        Severity::Note,
        format!("{expired} leases that ran out are still in the table"),
        "have something collect them now and then: see Locks::collect",
    )
}
