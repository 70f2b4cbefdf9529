//! Views of what there is in a database.

use super::{
    super::{Session, sources::Rows},
    made,
};
use crate::sqlserver::{
    sql::{
        time,
        value::{Data, Type, Value},
    },
    state::{Database, PrincipalKind, State},
};

pub(super) fn rows(session: &Session, view: &str) -> Option<Rows> {
    let state = session.state();
    let database = state.database(session.database)?;
    let user = session.identity.user;
    match view {
        "databases" => Some(databases(&state)),
        "schemas" => Some(schemas(database)),
        "sequences" => Some(sequences(database, user)),
        "objects" => Some(objects(database, user)),
        "tables" => Some(tables(database, user)),
        "database_principals" => Some(principals(database)),
        "server_principals" | "sql_logins" => Some(logins(&state)),
        _ => None,
    }
}

fn narrow(text: &str) -> Value {
    Value::new(
        Type::VarChar(Some(2)),
        Data::Text(text.encode_utf16().collect()),
    )
}

fn databases(state: &State) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("database_id", Type::Int),
        ("is_read_only", Type::Bit),
        ("state", Type::TinyInt),
        ("state_desc", Type::NVarChar(Some(60))),
        ("collation_name", Type::SYSNAME),
        ("create_date", Type::DateTime),
    ];
    let rows = state.databases.iter().map(|it| {
        vec![
            Value::name(&it.name),
            Value::int(it.id),
            Value::bit(it.read_only),
            Value::new(Type::TinyInt, Data::Integer(0)),
            Value::text("ONLINE"),
            Value::name("SQL_Latin1_General_CP1_CI_AS"),
            Value::new(Type::DateTime, Data::Time(state.started)),
        ]
    });
    made(&columns, rows.collect())
}

fn schemas(database: &Database) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("schema_id", Type::Int),
        ("principal_id", Type::Int),
    ];
    let rows = database.schemas.iter();
    let rows = rows.map(|it| vec![Value::name(&it.name), Value::int(it.id), Value::int(1)]);
    made(&columns, rows.collect())
}

fn sequences(database: &Database, user: i32) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("object_id", Type::Int),
        ("schema_id", Type::Int),
        ("type", Type::VarChar(Some(2))),
        ("start_value", Type::BigInt),
        ("increment", Type::BigInt),
        ("minimum_value", Type::BigInt),
        ("maximum_value", Type::BigInt),
        ("is_cycling", Type::Bit),
        ("current_value", Type::BigInt),
        ("is_exhausted", Type::Bit),
    ];
    let seen = database.sequences.iter();
    let seen = seen.filter(|it| database.shows(user, it.schema, &it.name));
    let rows = seen.map(|it| {
        vec![
            Value::name(&it.name),
            Value::int(it.id),
            Value::int(it.schema),
            narrow("SO"),
            Value::big(it.start),
            Value::big(it.increment),
            Value::big(it.minimum),
            Value::big(it.maximum),
            Value::bit(it.cycle),
            Value::big(it.current),
            Value::bit(it.is_exhausted()),
        ]
    });
    made(&columns, rows.collect())
}

fn objects(database: &Database, user: i32) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("object_id", Type::Int),
        ("schema_id", Type::Int),
        ("type", Type::VarChar(Some(2))),
        ("modify_date", Type::DateTime),
    ];
    let now = time::now();
    let row = |name: &str, id, schema, kind| {
        vec![
            Value::name(name),
            Value::int(id),
            Value::int(schema),
            narrow(kind),
            Value::new(Type::DateTime, Data::Time(now)),
        ]
    };
    let sequences = database
        .sequences
        .iter()
        .filter(|it| database.shows(user, it.schema, &it.name))
        .map(|it| row(&it.name, it.id, it.schema, "SO"));
    let tables = database
        .tables
        .iter()
        .filter(|it| database.shows(user, it.schema, &it.name))
        .map(|it| row(&it.name, it.id, it.schema, "U"));
    made(&columns, sequences.chain(tables).collect())
}

fn tables(database: &Database, user: i32) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("object_id", Type::Int),
        ("schema_id", Type::Int),
    ];
    let rows = database.tables.iter();
    let rows = rows.filter(|it| database.shows(user, it.schema, &it.name));
    let rows = rows.map(|it| {
        vec![
            Value::name(&it.name),
            Value::int(it.id),
            Value::int(it.schema),
        ]
    });
    made(&columns, rows.collect())
}

fn principals(database: &Database) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("principal_id", Type::Int),
        ("type", Type::VarChar(Some(2))),
        ("type_desc", Type::NVarChar(Some(60))),
        ("is_fixed_role", Type::Bit),
    ];
    let rows = database.principals.iter().map(|it| {
        let (kind, name) = match it.kind {
            PrincipalKind::User => ("S", "SQL_USER"),
            PrincipalKind::Role => ("R", "DATABASE_ROLE"),
        };
        let fixed = it.is_fixed() && it.name.starts_with("db_");
        vec![
            Value::name(&it.name),
            Value::int(it.id),
            narrow(kind),
            Value::text(name),
            Value::bit(fixed),
        ]
    });
    made(&columns, rows.collect())
}

fn logins(state: &State) -> Rows {
    let columns = [
        ("name", Type::SYSNAME),
        ("type", Type::VarChar(Some(2))),
        ("is_disabled", Type::Bit),
        ("default_database_name", Type::SYSNAME),
    ];
    let rows = state.logins.iter().map(|it| {
        vec![
            Value::name(&it.name),
            narrow("S"),
            Value::bit(!it.enabled),
            Value::name(&it.database),
        ]
    });
    made(&columns, rows.collect())
}
