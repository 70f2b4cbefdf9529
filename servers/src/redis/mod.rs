//! A Redis of a test's own, to kill, freeze, fill and restart, alone, followed
//! by replicas, or as a node of a cluster. It ends with the value, and at the
//! latest with the process.
//!
//! Everything here blocks for as long as the server takes: tens of
//! milliseconds as a rule.

mod client;
mod clock;
mod cluster;
mod ending;
mod freezing;
mod launching;
mod replica;
mod sentinel;
mod settings;
pub mod setup;
mod valkey;
mod waiting;
mod wire;

pub use client::{ask, ask_as};
pub use clock::Clock;
pub use cluster::{RedisCluster, join};
pub use sentinel::Sentinel;
pub use settings::RedisSettings;
pub use waiting::AGREE;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::account::Account;
use crate::home;
use crate::port;
use crate::problem::Outcome;
use crate::server::Kind;
use crate::site::Site;

/// How often another port is tried when somebody was quicker.
const ATTEMPTS: usize = 3;

/// A running Redis, or one that was stopped and may be started again.
#[derive(Debug)]
pub struct Redis {
    site: Site,
    settings: RedisSettings,
    program: PathBuf,
    /// Where it speaks TLS, if that is beside its port.
    tls_port: Option<u16>,
    /// None while it does not run.
    child: Mutex<Option<Child>>,
}

impl Redis {
    /// Starts a new, empty server and waits until it lets clients in.
    ///
    /// # Errors
    /// If Redis is not installed or does not start; the text says why.
    pub fn start(settings: RedisSettings) -> Outcome<Self> {
        let mut server = Self::at_a_new_place("redis", settings)?;
        server.start_somewhere()?;
        Ok(server)
    }

    fn at_a_new_place(name: &str, settings: RedisSettings) -> Outcome<Self> {
        // First, so that who lacks it hears of nothing else.
        let program = match settings.valkey {
            true => valkey::program()?,
            false => setup::program()?,
        };
        // Unlike PostgreSQL it runs as anybody.
        let account = Account::ours();
        let site = Site {
            account,
            directory: home::directory(name, &account)?,
            port: port::keep_or_choose(None)?,
        };
        Ok(Self {
            site,
            settings,
            program,
            tls_port: None,
            child: Mutex::new(None),
        })
    }

    /// Between choosing a port and listening there, somebody may take it.
    fn start_somewhere(&mut self) -> Outcome {
        for _ in 1..ATTEMPTS {
            match self.set_up().and_then(|()| self.launch()) {
                Err(problem) if problem.to_string().contains("Address already in use") => {
                    self.site.port = port::keep_or_choose(None)?;
                }
                other => return other,
            }
        }
        self.set_up()?;
        self.launch()
    }

    /// Starts it again, on the same port and with the data it had on disk. One
    /// that still runs is stopped first.
    ///
    /// # Errors
    /// If it does not end or does not start.
    pub fn restart(&self) -> Outcome {
        self.stop()?;
        self.launch()
    }

    /// The port it listens on, also while it is stopped.
    pub fn port(&self) -> u16 {
        self.site.port
    }

    /// The port on which it speaks TLS, if it does.
    pub fn tls_port(&self) -> Option<u16> {
        let only = self.speaks_tls_only().then_some(self.site.port);
        only.or(self.tls_port)
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child().as_ref().map(Child::id)
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        let text = fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The file it logs to.
    pub fn log_path(&self) -> PathBuf {
        self.site.log()
    }

    /// Where its data is.
    pub fn data(&self) -> &Path {
        &self.site.directory
    }

    fn kind(&self) -> &'static Kind {
        match self.settings.valkey {
            true => &setup::VALKEY,
            false => &setup::KIND,
        }
    }

    fn speaks_tls_only(&self) -> bool {
        self.settings.tls.is_some() && self.settings.without_plain
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
