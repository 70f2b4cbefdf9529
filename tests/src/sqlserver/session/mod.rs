//! A session: what a connection has at the server, and the running of what it asks.

mod applock;
mod arithmetic;
mod columns;
mod conditions;
mod define;
mod errors;
mod eval;
mod execute;
mod functions;
mod impersonate;
mod kill;
mod like;
mod naming;
mod principals;
mod procedures;
mod request;
mod rights;
mod rows;
mod run;
mod select;
mod sources;
mod tables;
mod transactions;
mod variables;
mod views;

use super::{
    Flavor, Server,
    sql::Message,
    state::{Object, State},
    wire::tokens::{self, Done, Tokens},
};
use std::sync::{
    Arc, MutexGuard,
    atomic::{AtomicBool, Ordering},
};
use variables::Scope;

pub(crate) use request::Outcome;

/// Why a batch ends before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Message),
    /// The client asked for that.
    Cancelled,
    /// The connection is to be closed.
    Over,
}

impl From<Message> for Stop {
    fn from(message: Message) -> Self {
        Self::Error(message)
    }
}

/// As whom a session acts.
#[derive(Clone, Debug)]
struct Identity {
    login: String,
    user: i32,
}

/// What a connection has at the server.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) server: Arc<Server>,
    pub(crate) id: i16,
    original_login: String,
    identity: Identity,
    /// Whom it acted as before EXECUTE AS.
    earlier: Vec<Identity>,
    database: i32,
    /// What is sent when the request is done.
    pub(crate) out: Tokens,
    scopes: Vec<Scope>,
    no_count: bool,
    xact_abort: bool,
    lock_timeout: i64,
    deadlock_priority: i64,
    transaction: Option<transactions::Transaction>,
    /// `@@ERROR`.
    last_error: i32,
    row_count: i64,
    /// The errors that CATCH blocks are at work on.
    caught: Vec<Message>,
    /// How many TRY blocks it is in.
    tries: u32,
    /// How many procedures it is in.
    depth: u32,
    /// The client no longer wants what it asked for.
    pub(crate) cancelled: Arc<AtomicBool>,
}

impl Session {
    pub(crate) fn new(server: Arc<Server>, id: i16, login: &str, database: i32, user: i32) -> Self {
        Self {
            server,
            id,
            original_login: login.into(),
            identity: Identity {
                login: login.into(),
                user,
            },
            earlier: Vec::new(),
            database,
            out: Tokens::default(),
            scopes: Vec::new(),
            no_count: false,
            xact_abort: false,
            lock_timeout: -1,
            deadlock_priority: 0,
            transaction: None,
            last_error: 0,
            row_count: 0,
            caught: Vec::new(),
            tries: 0,
            depth: 0,
            cancelled: Arc::default(),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// After a request that did not come to its end.
    pub(crate) fn interrupted(&mut self) {
        if self.xact_abort {
            self.abandon_transaction();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.server.state()
    }

    fn is_babelfish(&self) -> bool {
        self.server.settings.flavor == Flavor::Babelfish
    }

    pub(crate) fn database_name(&self) -> String {
        let state = self.state();
        let database = state.database(self.database);
        database.map(|it| it.name.clone()).unwrap_or_default()
    }

    /// Whether it may do something with `on` in its database.
    fn allows(&self, permission: &str, on: Option<&Object>) -> bool {
        let state = self.state();
        let database = state.database(self.database);
        database.is_some_and(|it| it.allows(self.identity.user, permission, on))
    }

    fn server_allows(&self, permission: &str) -> bool {
        self.state().server_allows(&self.identity.login, permission)
    }

    /// Says something to the client.
    pub(crate) fn say(&mut self, message: &Message) {
        let name = self.server.settings.name();
        self.out.message(message, name);
    }

    /// The end of a statement, with the number of its rows if it has any.
    fn done(&mut self, command: u16, rows: Option<u64>) {
        let kind = if self.depth > 0 {
            Done::InProcedure
        } else {
            Done::Batch
        };
        let counted = rows.filter(|_| !self.no_count);
        let flags = tokens::MORE | if counted.is_some() { tokens::COUNT } else { 0 };
        self.out.done(kind, flags, command, counted.unwrap_or(0));
    }

    /// The end of a statement that failed.
    fn failed(&mut self) {
        let kind = if self.depth > 0 {
            Done::InProcedure
        } else {
            Done::Batch
        };
        self.out.done(kind, tokens::MORE | tokens::ERROR, 0, 0);
    }
}
