//! A PostgreSQL of a test's own, to kill, freeze, fill and restart. It ends
//! with the value, and at the latest with the process.
//!
//! Everything here blocks for as long as the server takes: tens of
//! milliseconds as a rule.

mod client;
mod ending;
mod freezing;
mod settings;
pub mod setup;
mod standby;
mod template;

pub use client::{psql, sql};
pub use settings::Settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, PoisonError};

use crate::account::Account;
use crate::home;
use crate::port;
use crate::problem::{Outcome, unusable};
use crate::server;
use crate::site::Site;

/// How often another port is tried when somebody was quicker.
const ATTEMPTS: usize = 3;

/// What is different for a server whose data is removed with it. Nothing of it
/// stays in `/dev/shm` when it is killed.
const SHORT_LIVED: &[(&str, &str)] = &[("dynamic_shared_memory_type", "mmap")];

/// A running PostgreSQL, or one that was stopped and may be started again.
#[derive(Debug)]
pub struct Postgres {
    site: Site,
    settings: Settings,
    /// None while it does not run.
    child: Mutex<Option<Child>>,
}

impl Postgres {
    /// Starts a new, empty server and waits until it lets clients in.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start; the text says why.
    pub fn start(settings: Settings) -> Outcome<Self> {
        let mut server = Self::at_a_new_place("postgres", settings)?;
        template::copy_to(&server.site)?;
        server.start_somewhere()?;
        Ok(server)
    }

    fn at_a_new_place(name: &str, settings: Settings) -> Outcome<Self> {
        let account = Account::for_servers()?;
        let site = Site {
            account,
            directory: home::directory(name, &account)?,
            port: port::keep_or_choose(None)?,
        };
        let child = Mutex::new(None);
        Ok(Self {
            site,
            settings,
            child,
        })
    }

    /// Between choosing a port and listening there, somebody may take it.
    fn start_somewhere(&mut self) -> Outcome {
        for _ in 1..ATTEMPTS {
            match self.launch() {
                Err(problem) if problem.to_string().contains("Address already in use") => {
                    self.site.port = port::keep_or_choose(None)?;
                }
                other => return other,
            }
        }
        self.launch()
    }

    /// Starts it again, on the same port and with the data it had. One that
    /// still runs is stopped first.
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

    /// Its first process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child().as_ref().map(Child::id)
    }

    /// Whether it asks clients for a password.
    pub(crate) fn wants_password(&self) -> bool {
        self.settings.password
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        let text = fs::read(self.site.log()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Where its data is.
    pub fn data(&self) -> PathBuf {
        setup::data(&self.site)
    }

    fn launch(&self) -> Outcome {
        let hba = self
            .site
            .write("data/pg_hba.conf", &self.settings.access())?;
        let mut command = setup::command(&self.site)?;
        let mut set = |name: &str, value: &str| setup::set(&mut command, name, value);
        set("listen_addresses", &self.settings.addresses());
        set("hba_file", &hba.display().to_string());
        for (name, value) in SHORT_LIVED {
            set(name, value);
        }
        if let Some((certificate, key)) = &self.settings.tls {
            set("ssl", "on");
            set("ssl_cert_file", &self.copy(certificate, "server.crt")?);
            set("ssl_key_file", &self.copy(key, "server.key")?);
        }
        for (name, value) in &self.settings.set {
            set(name, value);
        }
        let (child, _) = server::start_child(&setup::KIND, &self.site, command)?;
        *self.child() = Some(child);
        Ok(())
    }

    /// PostgreSQL refuses a key that others may read, or that is another's.
    fn copy(&self, from: &Path, name: &str) -> Outcome<String> {
        let text = fs::read_to_string(from).map_err(|error| unusable(from, &error))?;
        Ok(self.site.write(name, &text)?.display().to_string())
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
