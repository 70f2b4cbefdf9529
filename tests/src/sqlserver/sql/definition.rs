//! What a statement makes, changes and removes.

use super::{
    ast::{Cond, Expr, Name, Select},
    value::Type,
};

/// A change of what there is, or of who may use it.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    CreateSchema(String),
    DropSchema {
        name: String,
        if_exists: bool,
    },
    CreateSequence(Name, SequenceOptions),
    AlterSequence(Name, SequenceOptions),
    DropSequence {
        names: Vec<Name>,
        if_exists: bool,
    },
    CreateDatabase(String),
    DropDatabase {
        name: String,
        if_exists: bool,
    },
    ReadOnly {
        database: Option<String>,
        read_only: bool,
    },
    CreateLogin {
        name: String,
        password: String,
        database: Option<String>,
    },
    AlterLogin {
        name: String,
        password: Option<String>,
        enabled: Option<bool>,
    },
    DropLogin(String),
    CreateUser {
        name: String,
        login: Option<String>,
    },
    DropUser {
        name: String,
        if_exists: bool,
    },
    CreateRole(String),
    DropRole {
        name: String,
        if_exists: bool,
    },
    Member {
        role: String,
        member: String,
        add: bool,
        server: bool,
    },
    Right(Right),
}

/// GRANT, DENY or REVOKE.
#[derive(Clone, Debug)]
pub(crate) struct Right {
    pub(crate) act: Act,
    /// In capitals.
    pub(crate) permissions: Vec<String>,
    pub(crate) on: Option<Securable>,
    pub(crate) to: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Grant,
    Deny,
    Revoke,
}

/// What a right is about: a class such as OBJECT or SCHEMA, and a name.
#[derive(Clone, Debug)]
pub(crate) struct Securable {
    pub(crate) class: String,
    pub(crate) name: Name,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceOptions {
    pub(crate) kind: Option<Type>,
    pub(crate) start: Option<i64>,
    pub(crate) restart: Option<Option<i64>>,
    pub(crate) increment: Option<i64>,
    pub(crate) minimum: Option<Option<i64>>,
    pub(crate) maximum: Option<Option<i64>>,
    pub(crate) cycle: Option<bool>,
}

/// What is done with tables.
#[derive(Clone, Debug)]
pub(crate) enum TableStatement {
    Create(Name, Vec<ColumnDefinition>),
    Drop {
        names: Vec<Name>,
        if_exists: bool,
    },
    Insert {
        table: Name,
        columns: Vec<String>,
        rows: Vec<Vec<Expr>>,
    },
    InsertQuery {
        table: Name,
        columns: Vec<String>,
        query: Box<Select>,
    },
    Update {
        table: Name,
        changes: Vec<(String, Expr)>,
        filter: Option<Cond>,
    },
    Delete {
        table: Name,
        filter: Option<Cond>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ColumnDefinition {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) nullable: bool,
    pub(crate) key: bool,
    pub(crate) default: Option<Expr>,
}
