//! Statements that are sent as text, in one message and without being prepared: what is done once,
//! or behind a pooler. Nothing a user says goes into them but what was quoted.

use crate::errors::refused;
use lockwork_core::lock::Result;
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row, postgres::PgRow, raw_sql};

/// Runs `text`.
pub(crate) async fn run(connection: &mut PgConnection, text: String) -> Result<()> {
    let done = connection.execute(raw_sql(AssertSqlSafe(text))).await;
    done.map(drop).map_err(refused)
}

/// The one row that `text` asks for.
pub(crate) async fn row(connection: &mut PgConnection, text: String) -> Result<PgRow> {
    let row = connection.fetch_one(raw_sql(AssertSqlSafe(text))).await;
    row.map_err(refused)
}

/// The first column of `row`.
pub(crate) fn first<'r, T>(row: &'r PgRow) -> Result<T>
where
    T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    row.try_get(0).map_err(refused)
}
