//! The table of leases and the functions that work on it: made on first use, or by an administrator.

use crate::{
    Options,
    errors::refused,
    open::standby,
    presence::PRESENCE,
    schema::{self, MAKING},
    text::{first, row, run},
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use sqlx::{Connection, PgConnection};

const FUNCTIONS: &str = include_str!("functions.sql");

/// What must be there; a later version has functions of other names beside these.
const NAMES: [&str; 9] = [
    "lease_begin_v1",
    "lease_lasts_v1",
    "lease_take_v1",
    "lease_renew_v1",
    "lease_give_v1",
    "lease_leave_v1",
    "lease_rise_v1",
    "lease_fall_v1",
    "lease_break_v1",
];

/// Looks whether leases are safe there, and makes what they need.
pub(super) async fn ensure(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let recovering = row(connection, "SELECT pg_is_in_recovery()".to_owned()).await?;
    if first(&recovering)? {
        return Err(standby());
    }
    // Two nodes may start at once. One transaction, which even a pooler leaves on one connection.
    let mut transaction = connection.begin().await.map_err(refused)?;
    let lock = format!("SELECT pg_advisory_xact_lock({PRESENCE}, {MAKING})");
    run(&mut transaction, lock).await?;
    if !schema::exists(&mut transaction, options).await? {
        let made = run(&mut transaction, schema::making(options)).await;
        made.map_err(|error| denied(options, error))?;
    }
    if !first(&row(&mut transaction, exist(options)).await?)? {
        let made = run(&mut transaction, functions(options)).await;
        made.map_err(|error| denied(options, error))?;
    }
    schema::check(&mut transaction, options).await?;
    transaction.commit().await.map_err(refused)
}

/// What an administrator runs where lockwork may not create these itself.
pub(super) fn script(options: &Options) -> String {
    let (tokens, functions) = (schema::script(options), functions(options));
    let (schema, role) = (options.quoted_schema(), options.quoted_role());
    format!(
        "{tokens};\n{functions}\n\
         GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.lease TO {role};\n\
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}"
    )
}

fn functions(options: &Options) -> String {
    FUNCTIONS.replace("SCHEMA.", &format!("{}.", options.quoted_schema()))
}

fn exist(options: &Options) -> String {
    let schema = options.quoted_schema();
    let each = NAMES.map(|name| format!("to_regproc('{schema}.{name}') IS NOT NULL"));
    format!(
        "SELECT to_regclass('{schema}.lease') IS NOT NULL AND {}",
        each.join(" AND ")
    )
}

fn denied(options: &Options, error: Error) -> Error {
    if error.kind() != ErrorKind::Denied {
        return error;
    }
    let message = "the role may not create the table that leases are rows of: have an administrator \
                   run the script";
    Error::new(ErrorKind::Denied, message)
        .with("script", script(options))
        .because(error)
}
