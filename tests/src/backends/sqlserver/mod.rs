//! SQL Server: the one that `LOCKWORK_SQLSERVER_URL` names, or else the stand-in. Each case has a
//! database of its own.

mod least;
mod server;

pub use least::least;
pub use server::Server;

use crate::{
    BoxFuture, Harness, Promise, Residue, Started,
    sqlserver::{Encryption, Flavor, Settings, StandIn},
};
use lockwork::{Locks, Result};
use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, Weak},
    time::Duration,
};

struct Database {
    server: Server,
    /// As whom clients come, and with which options.
    url: String,
    name: String,
    flavor: Flavor,
    /// Databases for the least rights are not for others.
    least: bool,
    /// Lives for as long as this.
    _server: Option<Arc<dyn Any + Send + Sync>>,
}

/// Locks in a database of a SQL Server.
///
/// # Errors
/// If a server is named and cannot be reached.
pub fn start() -> Started {
    started(false, "")
}

/// The same with names as .NET's DistributedLock has them.
///
/// # Errors
/// As [`start`].
pub fn medallion() -> Started {
    started(false, "compat=medallion")
}

/// Locks in a stand-in that answers as Babelfish does, and that each case has alone: its databases
/// share one space of locks.
///
/// # Errors
/// If there is no room for it.
pub fn babelfish() -> Started {
    let settings = Settings::new()
        .flavor(Flavor::Babelfish)
        .encryption(Encryption::NotSupported);
    let standin = Arc::new(StandIn::start(settings));
    let server = Server::new(&format!("{}?encrypt=none", standin.url()))?;
    let url = server.url("master", "");
    Ok(Arc::new(Database {
        server,
        url,
        name: "master".to_owned(),
        flavor: Flavor::Babelfish,
        least: false,
        _server: Some(standin),
    }))
}

fn started(least: bool, options: &str) -> Started {
    let (server, standin) = server()?;
    let name = database(&server, least)?;
    let url = match least {
        true => least::url(&server, &name),
        false => server.url(&name, options),
    };
    Ok(Arc::new(Database {
        server,
        url,
        name,
        flavor: Flavor::SqlServer,
        least,
        _server: standin,
    }))
}

type Shared = Option<Arc<dyn Any + Send + Sync>>;

/// The server that is named, or the stand-in for all who ask while one of them has it.
fn server() -> std::result::Result<(Server, Shared), String> {
    static STANDIN: Mutex<Weak<StandIn>> = Mutex::new(Weak::new());
    if let Some(server) = Server::named()? {
        return Ok((server, None));
    }
    let mut known = STANDIN.lock().expect("no panic under this lock");
    let standin = match known.upgrade() {
        Some(standin) => standin,
        None => {
            // Their databases were those of the last one.
            left().clear();
            Arc::new(StandIn::start(Settings::new()))
        }
    };
    *known = Arc::downgrade(&standin);
    let url = format!("{}?trust=any", standin.url());
    Ok((Server::new(&url)?, Some(standin)))
}

/// Those that a case has left, and whether they are for the least rights.
static LEFT: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());

fn left() -> MutexGuard<'static, Vec<(String, bool)>> {
    LEFT.lock().expect("no panic under this lock")
}

/// A database nobody uses.
fn database(server: &Server, least: bool) -> std::result::Result<String, String> {
    let found = left().extract_if(.., |(_, is)| *is == least).next();
    if let Some((name, _)) = found {
        return Ok(name);
    }
    let name = format!(
        "lockwork_{}_{:x}",
        std::process::id(),
        rand::random::<u32>()
    );
    server.run("master", [format!("CREATE DATABASE {name}")])?;
    if least {
        least::prepare(server, &name)?;
    }
    Ok(name)
}

impl Database {
    /// Ends every session in the database.
    fn end_sessions(&self) -> std::result::Result<(), String> {
        let sessions = "SELECT CONVERT(int, session_id) FROM sys.dm_exec_sessions \
                        WHERE database_id = DB_ID(@P1) AND session_id <> @@SPID";
        let sessions = self.server.numbers("master", sessions, &self.name)?;
        for session in sessions {
            // It may have ended by itself, and its number be another's.
            let text = format!(
                "IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions WHERE session_id = {session} \
                 AND database_id = DB_ID('{}')) KILL {session}",
                self.name
            );
            let _ = self.server.run("master", [text]);
        }
        Ok(())
    }

    fn locks(&self, granted: bool) -> usize {
        let sign = if granted { "=" } else { "<>" };
        let text = format!(
            "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' \
             AND resource_database_id = DB_ID(@P1) AND request_status {sign} 'GRANT'"
        );
        let counted = self.server.numbers("master", &text, &self.name);
        let counted = counted.expect("the server lists its locks");
        usize::try_from(counted[0]).expect("a count")
    }
}

impl Harness for Database {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let url = format!("{}&tenure={}ms", self.url, tenure.as_millis());
            lockwork::connect(&url).await
        })
    }

    fn url(&self) -> Option<String> {
        Some(self.url.clone())
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            self.end_sessions().expect("the server ends sessions");
        }))
    }

    /// The server tells nobody; it grants.
    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        let tells = self.flavor == Flavor::SqlServer;
        tells.then(|| Residue {
            locks: self.locks(true),
            waiters: self.locks(false),
        })
    }

    fn promises(&self, promise: Promise) -> bool {
        match promise {
            Promise::KnowsTokens | Promise::ListsHeld => false,
            Promise::KnowsHolders | Promise::KnowsWaiters => self.flavor == Flavor::SqlServer,
            // A session that reads already does not see that a writer waits: .NET has no gate.
            Promise::NameSpaces | Promise::WriterPreference => !self.url.contains("medallion"),
            _ => true,
        }
    }

    fn takeover(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn notice(&self) -> Duration {
        Duration::from_millis(250)
    }

    /// Each is several calls, encrypted.
    fn drops(&self) -> u32 {
        4_000
    }

    /// A permit that is free is found at the next look.
    fn patience(&self) -> Duration {
        Duration::from_millis(400)
    }
}

/// Left without sessions and locks, for the next case.
impl Drop for Database {
    fn drop(&mut self) {
        if self.flavor == Flavor::SqlServer && self.end_sessions().is_ok() {
            left().push((self.name.clone(), self.least));
        }
    }
}
