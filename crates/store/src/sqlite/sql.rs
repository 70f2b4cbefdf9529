//! Sending statements.
//!
//! Each call to a connection goes to its thread and back, which takes longer than most statements do. So statements
//! that belong together are sent in one go, with the same parameters: `$3` is the third one in each of them. (`?3` is
//! not: the driver takes the gaps that it leaves for parameters.)

use super::error;
use futures_util::TryStreamExt;
use lockwork_core::workflow::{Result, Time};
use serde::Serialize;
use sqlx::{
    AssertSqlSafe, Either, Executor, Row, Sqlite, SqliteConnection,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

pub(super) type Sql = Query<'static, Sqlite, SqliteArguments>;

/// What one statement did.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) rows: Vec<SqliteRow>,
    pub(super) changed: u64,
}

/// Statements that are all known.
pub(super) fn sql(text: &'static str) -> Sql {
    sqlx::query(text)
}

/// Statements of known parts.
pub(super) fn parts(parts: &[&'static str]) -> Sql {
    sqlx::query(AssertSqlSafe(parts.concat()))
}

/// What each of the statements did. One that fails is the last one.
pub(super) async fn all(
    connection: &mut SqliteConnection,
    statements: Sql,
) -> sqlx::Result<Vec<Done>> {
    let mut stream = connection.fetch_many(statements);
    let (mut all, mut done) = (Vec::new(), Done::default());
    while let Some(next) = stream.try_next().await? {
        match next {
            Either::Right(row) => done.rows.push(row),
            Either::Left(result) => {
                done.changed = result.rows_affected();
                all.push(std::mem::take(&mut done));
            }
        }
    }
    Ok(all)
}

/// The rows of one statement.
pub(super) async fn rows(
    connection: &mut SqliteConnection,
    statement: Sql,
) -> Result<Vec<SqliteRow>> {
    let done = all(connection, statement).await.map_err(error::of)?;
    Ok(done.into_iter().flat_map(|done| done.rows).collect())
}

/// The only row of one statement.
pub(super) async fn row(
    connection: &mut SqliteConnection,
    statement: Sql,
) -> Result<Option<SqliteRow>> {
    Ok(rows(connection, statement).await?.into_iter().next())
}

/// How many rows one statement has changed.
pub(super) async fn change(connection: &mut SqliteConnection, statement: Sql) -> Result<u64> {
    let done = all(connection, statement).await.map_err(error::of)?;
    Ok(done.iter().map(|done| done.changed).sum())
}

/// The value in a column.
pub(super) fn get<'r, T>(row: &'r SqliteRow, column: &str) -> Result<T>
where
    T: sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
{
    row.try_get(column).map_err(error::of)
}

/// The moment in a column.
pub(super) fn time(row: &SqliteRow, column: &str) -> Result<Time> {
    get(row, column).map(Time::from_millis)
}

/// The number in a column that is never negative.
pub(super) fn number(row: &SqliteRow, column: &str) -> Result<u64> {
    Ok(get::<i64>(row, column)?.try_into().unwrap_or_default())
}

/// As the database has numbers.
pub(super) fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A list, for `json_each`.
pub(super) fn list<T: Serialize>(items: impl IntoIterator<Item = T>) -> Result<String> {
    crate::json::write(&items.into_iter().collect::<Vec<_>>())
}
