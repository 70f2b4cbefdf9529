//! What all sessions of a server share.

mod database;
mod logins;
mod rights;
mod sequence;
mod sessions;
mod table;

pub(crate) use database::{DBO, Database, GUEST, PUBLIC, Principal, PrincipalKind};
pub(crate) use logins::Login;
pub(crate) use rights::{Grant, Grantee, Object, PUBLIC_PROCEDURES};
pub(crate) use sequence::Sequence;
pub(crate) use sessions::SessionInfo;
pub(crate) use table::Table;

use super::{Settings, locks::Locks, sql::time};
use std::collections::BTreeMap;

/// The state of a server.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) locks: Locks,
    pub(crate) logins: Vec<Login>,
    pub(crate) server_rights: Vec<Grant>,
    pub(crate) databases: Vec<Database>,
    pub(crate) sessions: BTreeMap<i16, SessionInfo>,
    pub(crate) started: i64,
    last_id: i32,
    last_transaction: u64,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Self {
        let names = ["master", "tempdb", "model", "msdb"];
        let databases = (1..).zip(names).map(|(id, name)| Database::new(id, name));
        Self {
            locks: Locks::default(),
            logins: vec![Login::administrator(settings.password())],
            server_rights: Vec::new(),
            databases: databases.collect(),
            sessions: BTreeMap::new(),
            started: time::now(),
            last_id: 1000,
            last_transaction: 0,
        }
    }

    /// A number for something new.
    pub(crate) const fn new_id(&mut self) -> i32 {
        self.last_id += 1;
        self.last_id
    }

    /// A number for a transaction.
    pub(crate) const fn new_transaction(&mut self) -> u64 {
        self.last_transaction += 1;
        self.last_transaction
    }

    pub(crate) fn database(&self, id: i32) -> Option<&Database> {
        self.databases.iter().find(|it| it.id == id)
    }

    pub(crate) fn database_mut(&mut self, id: i32) -> Option<&mut Database> {
        self.databases.iter_mut().find(|it| it.id == id)
    }

    pub(crate) fn database_named(&self, name: &str) -> Option<&Database> {
        self.databases.iter().find(|it| same(&it.name, name))
    }

    /// A database's number, for a new one the least that is free.
    pub(crate) fn new_database_id(&self) -> i32 {
        let mut ids = 5..;
        ids.find(|id| self.database(*id).is_none())
            .unwrap_or(i32::MAX)
    }
}

/// Whether two names are one: case does not matter.
pub(crate) fn same(one: &str, two: &str) -> bool {
    one == two || one.to_lowercase() == two.to_lowercase()
}
