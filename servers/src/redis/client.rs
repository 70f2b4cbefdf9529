//! How a test talks to its server: by a URL, or in commands.

use std::path::PathBuf;
use std::time::Duration;

use crate::problem::{Outcome, Problem};

use super::Redis;
use super::wire::{self, Address, Reply};

/// How long one command may take.
const COMMAND: Duration = Duration::from_secs(10);

/// Who asks where the ACL is the test's, which may let nobody else do much.
const CARETAKER: (&str, &str) = ("caretaker", "only-for-local-tests");

/// The line of the ACL that lets the caretaker in.
pub(super) const CARETAKER_LINE: &str = "user caretaker on >only-for-local-tests ~* &* +@all";

impl Redis {
    /// Its address, for a client who needs no name.
    pub fn url(&self) -> String {
        self.url_at("127.0.0.1", self.port())
    }

    /// The same by another way: through a proxy, or at another address.
    pub fn url_at(&self, host: &str, port: u16) -> String {
        let scheme = match self.speaks_tls_only() {
            true => "rediss",
            false => "redis",
        };
        format!("{scheme}://{host}:{port}")
    }

    /// Its address for a user of its ACL.
    pub fn url_for(&self, user: &str, password: &str) -> String {
        let at = format!("://{user}:{password}@");
        self.url().replacen("://", &at, 1)
    }

    /// Runs a command, as one who may do everything; what it answers, with a
    /// line for each part of a list, and nothing for what is not there.
    ///
    /// # Errors
    /// If the server refuses it, cannot be reached, or takes longer than 10 s.
    pub fn ask(&self, words: &[&str]) -> Outcome<String> {
        converse(&self.address(), self.caretaker(), words)
    }

    pub(super) fn caretaker(&self) -> Option<(&'static str, &'static str)> {
        (!self.settings.acl.is_empty()).then_some(CARETAKER)
    }

    pub(super) fn address(&self) -> Address {
        match self.speaks_tls_only() {
            true => Address::Socket(self.socket()),
            false => Address::Port(self.port()),
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.site.directory.join("socket")
    }
}

/// Runs a command on whatever listens on the port.
///
/// # Errors
/// As for [`Redis::ask`].
pub fn ask(port: u16, words: &[&str]) -> Outcome<String> {
    converse(&Address::Port(port), None, words)
}

/// The same as a user of the server's ACL.
///
/// # Errors
/// As for [`Redis::ask`], and if the user is not let in.
pub fn ask_as(port: u16, user: &str, password: &str, words: &[&str]) -> Outcome<String> {
    converse(&Address::Port(port), Some((user, password)), words)
}

fn converse(at: &Address, login: Option<(&str, &str)>, words: &[&str]) -> Outcome<String> {
    let name = words.first().copied().unwrap_or_default();
    let reply = match login {
        Some((user, password)) => {
            let who: &[&str] = &["AUTH", user, password];
            wire::ask(at, COMMAND, &[who, words])
        }
        None => wire::ask(at, COMMAND, &[words]),
    };
    match reply {
        Ok(Reply::Said(text)) => Ok(text),
        Ok(Reply::Refused(why)) => Err(Problem::new(format!("`{name}` was refused: {why}"))),
        Err(error) => Err(Problem::new(format!(
            "`{name}` was not answered ({error}); check that the server runs and is not frozen."
        ))),
    }
}
