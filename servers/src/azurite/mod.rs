//! An Azurite of a test's own, to kill, freeze and restart: Microsoft's
//! emulator of Azure's Blob Storage. It ends with the value, and at the latest
//! with the process.
//!
//! Everything here blocks for as long as the server takes: starting takes about
//! a second, and some more where its package must be fetched first.

mod ending;
mod freezing;
pub mod package;
pub mod setup;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::account::Account;
use crate::home;
use crate::port;
use crate::problem::Outcome;
use crate::server;
use crate::site::Site;

use setup::Keeps;

/// How often another port is tried when somebody was quicker.
const ATTEMPTS: usize = 3;

/// A running Azurite, or one that was stopped and may be started again.
///
/// It writes what it has to its disk when it is stopped, and else every 5 s:
/// one that is killed has lost what is younger. Of leases only those without
/// an end outlive a restart. The others it takes for expired then, whatever
/// time was left to them, and a stranger may have them at once.
#[derive(Debug)]
pub struct Azurite {
    site: Site,
    /// None while it does not run.
    child: Mutex<Option<Child>>,
}

impl Azurite {
    /// Starts a new, empty server and waits until it answers.
    ///
    /// # Errors
    /// If it cannot be had here or does not start; the text says why.
    pub fn start() -> Outcome<Self> {
        // First, so that who lacks it hears of nothing else.
        setup::program()?;
        let account = Account::ours();
        let mut server = Self {
            site: Site {
                account,
                directory: home::directory("azurite", &account)?,
                port: port::keep_or_choose(None)?,
            },
            child: Mutex::new(None),
        };
        server.start_somewhere()?;
        Ok(server)
    }

    /// Between choosing a port and listening there, somebody may take it.
    fn start_somewhere(&mut self) -> Outcome {
        for _ in 1..ATTEMPTS {
            match self.launch() {
                Err(problem) if problem.to_string().contains("EADDRINUSE") => {
                    self.site.port = port::keep_or_choose(None)?;
                }
                other => return other,
            }
        }
        self.launch()
    }

    fn launch(&self) -> Outcome {
        let command = setup::command(&self.site, Keeps::WhatItWrote)?;
        let (child, _) = server::start_child(&setup::KIND, &self.site, command)?;
        *self.child() = Some(child);
        Ok(())
    }

    /// Starts it again, on the same port and with what it had on disk. One that
    /// still runs is stopped first.
    ///
    /// # Errors
    /// If it does not end or does not start.
    pub fn restart(&self) -> Outcome {
        self.stop()?;
        self.launch()
    }

    /// Its address, without a container: a new server has none.
    pub fn url(&self) -> String {
        setup::url(self.port())
    }

    /// The port it listens on, also while it is stopped.
    pub fn port(&self) -> u16 {
        self.site.port
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child().as_ref().map(Child::id)
    }

    /// What it has logged so far: when it came and went, and no requests.
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

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
