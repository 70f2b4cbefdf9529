//! Where tokens come from: one sequence for all locks.
//!
//! A sequence hands out each number once and in order, also to several sessions (with `CACHE 1`,
//! which is checked). What a crash makes it forget is leapt over: see `presence.rs`.

use crate::{
    errors::{is_lack_of_rights, refused},
    options::Options,
    presence::PRESENCE,
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, postgres::PgRow, raw_sql};

/// Under this lock the schema is made: two nodes may start at once.
pub(crate) const MAKING: i32 = 0;

/// The highest number that fits into a token.
const LAST: i64 = (1 << 47) - 1;

/// Makes the schema and its sequence unless they are there.
pub(crate) async fn ensure(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let mut transaction = connection.begin().await.map_err(refused)?;
    let lock = format!("SELECT pg_advisory_xact_lock({PRESENCE}, {MAKING})");
    transaction
        .execute(raw_sql(AssertSqlSafe(lock)))
        .await
        .map_err(refused)?;
    if !exists(&mut transaction, options).await? {
        make(&mut transaction, options).await?;
    }
    check(&mut transaction, options).await?;
    transaction.commit().await.map_err(refused)
}

/// What an administrator runs where lockwork may not create a schema. Locks with `mode=lease` need a
/// table and functions besides: see `lease/install.rs`.
pub(crate) fn script(options: &Options) -> String {
    let (schema, sequence) = (options.quoted_schema(), options.sequence());
    let role = options.quoted_role();
    format!(
        "{}; GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT USAGE, SELECT, UPDATE ON SEQUENCE {sequence} TO {role}",
        making(options)
    )
}

/// What makes the schema and its sequence.
pub(crate) fn making(options: &Options) -> String {
    let (schema, sequence) = (options.quoted_schema(), options.sequence());
    format!(
        "CREATE SCHEMA IF NOT EXISTS {schema}; \
         CREATE SEQUENCE IF NOT EXISTS {sequence} AS bigint CACHE 1"
    )
}

pub(crate) async fn exists(connection: &mut PgConnection, options: &Options) -> Result<bool> {
    let text = format!("SELECT to_regclass('{}') IS NOT NULL", options.sequence());
    let found = connection.fetch_one(raw_sql(AssertSqlSafe(text))).await;
    let found = found.map_err(|error| or_script(error, options))?;
    found.try_get(0).map_err(refused)
}

async fn make(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let text = AssertSqlSafe(making(options));
    let made = connection.execute(raw_sql(text)).await;
    made.map(drop).map_err(|error| or_script(error, options))
}

/// Whether numbers rise for everybody, and we may have them.
pub(crate) async fn check(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let sequence = options.sequence();
    let text = format!(
        "SELECT seqcache = 1 AND NOT seqcycle AND seqincrement > 0 AND seqmin > 0 \
             AND seqmax >= {LAST}, \
           has_sequence_privilege(seqrelid, 'UPDATE') \
         FROM pg_sequence WHERE seqrelid = '{sequence}'::regclass"
    );
    let found = connection
        .fetch_optional(raw_sql(AssertSqlSafe(text)))
        .await;
    let Some(row) = found.map_err(refused)? else {
        let message = "what has the name of the sequence that tokens come from is no sequence: \
                       rename it, or name another schema";
        return Err(Error::new(ErrorKind::Denied, message).with("sequence", sequence));
    };
    let has = |column: usize| PgRow::try_get::<bool, _>(&row, column).map_err(refused);
    if !has(0)? {
        let message = "the sequence that tokens come from does not count up one by one for \
                       everybody: ALTER SEQUENCE it AS bigint INCREMENT 1 MINVALUE 1 NO MAXVALUE \
                       CACHE 1 NO CYCLE";
        return Err(Error::new(ErrorKind::Denied, message).with("sequence", sequence));
    }
    match has(1)? {
        true => Ok(()),
        false => Err(missing(options)),
    }
}

fn or_script(error: sqlx::Error, options: &Options) -> Error {
    match is_lack_of_rights(&error) {
        true => missing(options).because(error),
        false => refused(error),
    }
}

fn missing(options: &Options) -> Error {
    let message = "the role may not make or use the sequence that tokens come from: have an \
                   administrator run the script, or add ?tokens=false to the URL and go without";
    Error::new(ErrorKind::Denied, message).with("script", script(options))
}
