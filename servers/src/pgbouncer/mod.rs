//! A PgBouncer of a test's own in front of a PostgreSQL of its own. It ends
//! with the value, and at the latest with the process.

pub mod setup;

pub use setup::PoolMode;

use std::fs;
use std::process::Child;

use crate::account::Account;
use crate::home;
use crate::port;
use crate::postgres::{self, Postgres};
use crate::problem::Outcome;
use crate::server;
use crate::site::Site;

/// A running PgBouncer.
#[derive(Debug)]
pub struct PgBouncer {
    site: Site,
    url: String,
    child: Option<Child>,
}

impl PgBouncer {
    /// Starts one that wants from its clients what the server wants, and waits
    /// until it lets clients in.
    ///
    /// # Errors
    /// If PgBouncer is not installed or does not start; the text says why.
    pub fn start(server: &Postgres, mode: PoolMode) -> Outcome<Self> {
        let account = Account::for_servers()?;
        let site = Site {
            account,
            directory: home::directory("pgbouncer", &account)?,
            port: port::keep_or_choose(None)?,
        };
        setup::configure(&site, server.port(), mode, server.wants_password())?;
        let command = setup::command(&site)?;
        let mut pgbouncer = Self {
            url: server.url_at("127.0.0.1", site.port),
            site,
            child: None,
        };
        let (child, _) = server::start_child(&setup::KIND, &pgbouncer.site, command)?;
        pgbouncer.child = Some(child);
        Ok(pgbouncer)
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.site.port
    }

    /// Runs SQL through it, as [`Postgres::sql`] does.
    ///
    /// # Errors
    /// As for [`Postgres::sql`].
    pub fn sql(&self, text: &str) -> Outcome<String> {
        postgres::sql(&self.url, text)
    }
}

/// Ends it and removes its directory.
impl Drop for PgBouncer {
    fn drop(&mut self) {
        // What does not end is left to the guard of this process.
        if server::end(&setup::KIND, &self.site.directory).is_ok() {
            let _ = self.child.take().map(|mut child| child.wait());
            let _ = fs::remove_dir_all(&self.site.directory);
        }
    }
}
