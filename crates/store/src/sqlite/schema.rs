//! The tables: made by whoever comes first, and changed by newer versions.

use super::{error, sql};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::{AssertSqlSafe, SqliteConnection};

/// Each step from one form of the tables to the next.
const STEPS: [&str; 2] = [
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
];

/// The form that this version makes and knows.
pub(super) const KNOWN: u64 = STEPS.len() as u64;

/// The form of the tables that are there, if any are.
pub(super) async fn found(connection: &mut SqliteConnection) -> Result<Option<u64>> {
    let there = sql::sql("SELECT 1 FROM sqlite_schema WHERE name = 'lockwork_meta'");
    if sql::row(connection, there).await?.is_none() {
        return Ok(None);
    }
    let found = sql::sql("SELECT value FROM lockwork_meta WHERE key = 'schema'");
    let row = sql::row(connection, found).await?;
    row.map(|row| sql::number(&row, "value")).transpose()
}

/// Brings the tables to the form that this version knows. Of several processes at once one does, and the others wait.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<()> {
    execute(connection, "BEGIN IMMEDIATE").await?;
    let migrated = steps(connection).await;
    let end = match migrated {
        Ok(()) => "COMMIT",
        Err(_) => "ROLLBACK",
    };
    migrated.and(execute(connection, end).await)
}

async fn steps(connection: &mut SqliteConnection) -> Result<()> {
    let meta = "CREATE TABLE IF NOT EXISTS lockwork_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID";
    execute(connection, meta).await?;
    let found = found(connection).await?.unwrap_or(0);
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    if found > STEPS.len() {
        let message = "a newer version of lockwork has changed this store: update this program";
        return Err(Error::new(ErrorKind::Unsupported, message)
            .with("schema", found)
            .with("known", STEPS.len()));
    }
    for step in STEPS.iter().skip(found) {
        execute(connection, step).await?;
    }
    if found < STEPS.len() {
        let set = "INSERT INTO lockwork_meta VALUES ('schema', $1) ON CONFLICT DO UPDATE SET value = excluded.value";
        sql::change(connection, sql::sql(set).bind(sql::int(STEPS.len()))).await?;
    }
    Ok(())
}

pub(super) async fn execute(connection: &mut SqliteConnection, text: &str) -> Result<()> {
    let done = sqlx::raw_sql(AssertSqlSafe(text)).execute(connection).await;
    done.map(drop).map_err(error::of)
}
