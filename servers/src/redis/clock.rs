//! A clock that a test turns, for a server that reads it in the place of the
//! system's: what happens to leases when an operator, or NTP, sets the time.
//! What a server waits for goes by another clock, which stays right.

use std::fs;
use std::path::PathBuf;

use crate::account::Account;
use crate::home;
use crate::problem::{Outcome, Problem, unusable};

use super::RedisSettings;

/// The library, for programs with threads, below `/usr/lib/<architecture>`.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// The C library's own memory, from the same place. Debian's Redis takes its
/// memory from jemalloc, which asks for the time before libfaketime is ready,
/// and the two wait for each other.
const MEMORY: &str = "libc_malloc_debug.so.0";

/// A clock that goes as the system's does until it is turned.
#[derive(Debug)]
pub struct Clock {
    /// What the server loads before everything else.
    libraries: String,
    directory: PathBuf,
}

impl Clock {
    /// A clock that is right.
    ///
    /// # Errors
    /// If libfaketime is not installed.
    pub fn new() -> Outcome<Self> {
        let libraries = libraries().ok_or_else(|| {
            Problem::new(
                "libfaketime is not installed; `cargo xtask test` installs it where it may. In Debian it is in the package `faketime`.",
            )
        })?;
        let directory = home::directory("clock", &Account::ours())?;
        let clock = Self {
            libraries,
            directory,
        };
        clock.turn(0)?;
        Ok(clock)
    }

    /// Puts it so many seconds ahead of the system's clock, or behind it.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub fn turn(&self, seconds: i64) -> Outcome {
        // Whoever reads it meanwhile sees the old time or the new one.
        let (new, file) = (self.directory.join("new"), self.file());
        let done = fs::write(&new, format!("{seconds:+}\n")).and_then(|()| fs::rename(&new, &file));
        done.map_err(|error| unusable(&file, &error))
    }

    fn file(&self) -> PathBuf {
        self.directory.join("offset")
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // What stays is left to the guard of this process.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl RedisSettings {
    /// The server reads the time from this clock, which should outlive it.
    #[must_use]
    pub fn clock(self, clock: &Clock) -> Self {
        // In the words of the library: its manual, faketime(1) and README.
        self.env("LD_PRELOAD", &clock.libraries)
            .env("FAKETIME_TIMESTAMP_FILE", clock.file())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }
}

fn libraries() -> Option<String> {
    let architectures = fs::read_dir("/usr/lib").ok()?.flatten();
    let mut places = architectures.map(|entry| entry.path());
    let place = places.find(|place| place.join(LIBRARY).is_file())?;
    let paths = [place.join(MEMORY), place.join(LIBRARY)];
    let there = paths.iter().filter(|path| path.is_file());
    let names: Vec<String> = there.map(|path| path.display().to_string()).collect();
    Some(names.join(":"))
}
