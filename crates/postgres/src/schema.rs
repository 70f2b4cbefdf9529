//! Where tokens come from: one sequence for all locks.
//!
//! A sequence hands out each number once and in order, also to several sessions (with `CACHE 1`,
//! which is checked). What a crash makes it forget is leapt over: see `presence.rs`.

use crate::{errors::refused, options::Options, presence::PRESENCE};
use lockwork_core::lock::{Error, ErrorKind, Result};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, raw_sql};

/// Under this lock the schema is made: two nodes may start at once.
pub(crate) const MAKING: i32 = 0;

/// Makes the schema and its sequence unless they are there.
pub(crate) async fn ensure(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let mut transaction = connection.begin().await.map_err(refused)?;
    let lock = format!("SELECT pg_advisory_xact_lock({PRESENCE}, {MAKING})");
    execute(&mut transaction, lock).await?;
    if !exists(&mut transaction, options).await? {
        make(&mut transaction, options).await?;
    }
    check(&mut transaction, options).await?;
    transaction.commit().await.map_err(refused)
}

/// What an administrator runs where lockwork may not create a schema. Locks with `mode=lease` need a
/// table and functions besides: see `lease/install.rs`.
pub(crate) fn script(options: &Options) -> String {
    let schema = options.quoted_schema();
    format!(
        "CREATE SCHEMA {schema}; CREATE SEQUENCE {schema}.token AS bigint CACHE 1; \
         GRANT USAGE ON SCHEMA {schema} TO role; GRANT USAGE, SELECT, UPDATE ON SEQUENCE \
         {schema}.token TO role"
    )
}

async fn execute(connection: &mut PgConnection, text: String) -> Result<()> {
    let done = connection.execute(raw_sql(AssertSqlSafe(text))).await;
    done.map(drop).map_err(refused)
}

async fn fetch(connection: &mut PgConnection, text: String) -> Result<sqlx::postgres::PgRow> {
    let row = connection.fetch_one(raw_sql(AssertSqlSafe(text))).await;
    row.map_err(refused)
}

pub(crate) async fn exists(connection: &mut PgConnection, options: &Options) -> Result<bool> {
    let sequence = options.sequence();
    let row = fetch(
        connection,
        format!("SELECT to_regclass('{sequence}') IS NOT NULL"),
    )
    .await?;
    row.try_get(0).map_err(refused)
}

/// What makes the schema and its sequence.
pub(crate) fn statements(options: &Options) -> String {
    let (schema, sequence) = (options.quoted_schema(), options.sequence());
    format!(
        "CREATE SCHEMA IF NOT EXISTS {schema}; \
         CREATE SEQUENCE IF NOT EXISTS {sequence} AS bigint CACHE 1"
    )
}

async fn make(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let made = execute(connection, statements(options)).await;
    made.map_err(|error| {
        if error.kind() != ErrorKind::Denied {
            return error;
        }
        let message = "the role may not create the schema that tokens come from: have an \
                       administrator run the script, or add ?tokens=false to the URL and go without";
        Error::new(ErrorKind::Denied, message)
            .with("script", script(options))
            .because(error)
    })
}

pub(crate) async fn check(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let sequence = options.sequence();
    let text = format!(
        "SELECT seqcache, seqincrement, seqcycle FROM pg_sequence \
         WHERE seqrelid = '{sequence}'::regclass"
    );
    let row = fetch(connection, text).await?;
    let (cache, by): (i64, i64) = (
        row.try_get(0).map_err(refused)?,
        row.try_get(1).map_err(refused)?,
    );
    let cycles: bool = row.try_get(2).map_err(refused)?;
    if cache == 1 && by > 0 && !cycles {
        return Ok(());
    }
    let message = "the sequence that tokens come from does not count up one by one for everybody: \
                   ALTER SEQUENCE it to CACHE 1 NO CYCLE";
    Err(Error::new(ErrorKind::Denied, message).with("sequence", sequence))
}
