//! The tables and functions: made by whoever comes first, and looked at by everybody.

use super::{
    errors::{Trouble, is_lack_of_rights},
    options::{Options, quoted},
};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, raw_sql};

/// What this version makes and knows.
const FORMAT: i32 = 4;

/// The same, as the doctor counts.
pub(super) const KNOWN: u64 = FORMAT as u64;

/// The first number of this store's advisory locks, which have two: `lwst`.
const CLASS: i32 = i32::from_be_bytes(*b"lwst");

/// Under this lock the schema is made: several nodes may start at once.
const MAKING: i32 = 16_384;

const PARTS: [&str; 7] = [
    include_str!("schema/tables.sql"),
    include_str!("schema/meeting.sql"),
    include_str!("schema/errands.sql"),
    include_str!("schema/commit.sql"),
    include_str!("schema/together.sql"),
    include_str!("schema/instances.sql"),
    concat!(
        include_str!("schema/send.sql"),
        include_str!("schema/definitions.sql")
    ),
];

/// What makes everything inside of the schema. What is there already stays.
fn inside(schema: &str) -> String {
    let number = format!(
        "INSERT INTO SCHEMA.store_format (number) VALUES ({FORMAT}) \
         ON CONFLICT (one) DO UPDATE SET number = excluded.number;\n"
    );
    let script = PARTS.join("\n") + &number;
    script
        .replace("SCHEMA", schema)
        .replace("CLASS", &CLASS.to_string())
}

/// What an administrator runs where the role may not make a schema.
pub(super) fn script(schema: &str) -> String {
    let schema = quoted(schema);
    format!("CREATE SCHEMA IF NOT EXISTS {schema};\n{}", inside(&schema))
}

/// What an administrator grants besides.
fn grants(options: &Options) -> String {
    let (schema, role) = (
        options.quoted_schema(),
        quoted(options.connect.get_username()),
    );
    format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}; \
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"
    )
}

/// Makes the schema unless it is there; refuses one that is newer.
pub(super) async fn ensure(at: &mut PgConnection, options: &Options) -> Result<()> {
    if !is_made(at, options).await? {
        let made = make(at, options).await;
        made.map_err(|error| refused(error, options))??;
    }
    match may_use(at, options).await? {
        true => Ok(()),
        false => Err(lacking(options)),
    }
}

/// Whether the role may do everything with the tables that a store does.
pub(super) async fn may_use(at: &mut PgConnection, options: &Options) -> Result<bool> {
    let rights = "SELECT coalesce(bool_and(has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') \
                  AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')), false) \
                  FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace($1)";
    ask(at, rights, options).await
}

/// Whether the role may make them, or change those of an older version.
pub(super) async fn may_make(at: &mut PgConnection, options: &Options) -> Result<bool> {
    let rights = "SELECT CASE WHEN to_regnamespace($1) IS NULL \
                  THEN has_database_privilege(current_database(), 'CREATE') \
                  ELSE has_schema_privilege(to_regnamespace($1)::oid, 'CREATE') END";
    ask(at, rights, options).await
}

async fn ask(at: &mut PgConnection, rights: &'static str, options: &Options) -> Result<bool> {
    let may = sqlx::query_scalar::<_, bool>(rights).bind(options.quoted_schema());
    let may = may.persistent(false).fetch_one(at).await;
    may.map_err(|error| refused(error, options))
}

/// Whether everything is there, in the form that this version knows.
async fn is_made(at: &mut PgConnection, options: &Options) -> Result<bool> {
    match found(at, options).await? {
        Some(number) if number > FORMAT => Err(newer(number)),
        found => Ok(found == Some(FORMAT)),
    }
}

/// The form of what is there, if anything is.
pub(super) async fn found(at: &mut PgConnection, options: &Options) -> Result<Option<i32>> {
    let schema = options.quoted_schema();
    let there = format!("SELECT to_regclass('{schema}.store_format') IS NOT NULL");
    let there = at.fetch_one(raw_sql(AssertSqlSafe(there))).await;
    let there = there.and_then(|row| row.try_get::<bool, _>(0));
    if !there.map_err(|error| refused(error, options))? {
        return Ok(None);
    }
    let text = format!("SELECT coalesce(max(number), 0) FROM {schema}.store_format");
    let number = at.fetch_one(raw_sql(AssertSqlSafe(text))).await;
    let number = number.and_then(|row| row.try_get::<i32, _>(0));
    number.map(Some).map_err(|error| refused(error, options))
}

async fn make(at: &mut PgConnection, options: &Options) -> Result<Result<()>, sqlx::Error> {
    let mut transaction = at.begin().await?;
    let lock = format!("SELECT pg_advisory_xact_lock({CLASS}, {MAKING})");
    transaction.execute(raw_sql(AssertSqlSafe(lock))).await?;
    // Somebody else may have made it, and may be newer.
    match is_made(&mut transaction, options).await {
        Ok(false) => {}
        other => return Ok(other.map(drop)),
    }
    let schema = options.quoted_schema();
    let text = format!("SELECT to_regnamespace('{schema}') IS NOT NULL");
    let row = transaction.fetch_one(raw_sql(AssertSqlSafe(text))).await?;
    // Who may not make a schema may still fill one.
    if !row.try_get::<bool, _>(0)? {
        let text = format!("CREATE SCHEMA {schema}");
        transaction.execute(raw_sql(AssertSqlSafe(text))).await?;
    }
    transaction
        .execute(raw_sql(AssertSqlSafe(inside(&schema))))
        .await?;
    transaction.commit().await?;
    Ok(Ok(()))
}

fn refused(error: sqlx::Error, options: &Options) -> Error {
    match is_lack_of_rights(&error) {
        true => lacking(options).because(error),
        false => Trouble::from(error).into_error(),
    }
}

pub(super) fn lacking(options: &Options) -> Error {
    let message = "the role may not make or use the tables of the store: have an administrator run the script that \
                   PostgresStore::schema_sql prints for this schema, and then what follows";
    Error::new(ErrorKind::Denied, message)
        .with("schema", &options.schema)
        .with("then", grants(options))
}

fn newer(number: i32) -> Error {
    let message =
        "the schema of this store was made by a newer version of lockwork: update this node";
    Error::new(ErrorKind::Unsupported, message)
        .with("found", number)
        .with("known", FORMAT)
}
