//! How a test talks to its server: by a URL, or in SQL through `psql`.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::login::{DATABASE, PASSWORD, USER};
use crate::problem::Outcome;
use crate::run;

use super::{Postgres, setup};

/// How long one statement may take.
const STATEMENT: Duration = Duration::from_secs(10);

impl Postgres {
    /// Its address, with the password if it wants one.
    pub fn url(&self) -> String {
        self.url_at("127.0.0.1", self.port())
    }

    /// The same by another way: through a proxy, or at another address.
    pub fn url_at(&self, host: &str, port: u16) -> String {
        let password = match self.settings.password {
            true => format!(":{PASSWORD}"),
            false => String::new(),
        };
        format!("postgres://{USER}{password}@{host}:{port}/{DATABASE}")
    }

    /// Runs SQL; what it answers, with `|` between columns and a line for each
    /// row.
    ///
    /// # Errors
    /// If the server refuses it, cannot be reached, or takes longer than 10 s.
    pub fn sql(&self, text: &str) -> Outcome<String> {
        sql(&self.url(), text)
    }
}

/// Runs SQL on whatever is at the address.
///
/// # Errors
/// As for [`Postgres::sql`].
pub fn sql(url: &str, text: &str) -> Outcome<String> {
    run::answer(&mut psql(url, text)?, STATEMENT)
}

/// `psql` with nothing but what it is told here.
///
/// # Errors
/// If it is not installed.
pub fn psql(url: &str, text: &str) -> Outcome<Command> {
    let mut psql = Command::new(setup::beside("psql")?);
    psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", text])
        .env("PGCONNECT_TIMEOUT", "5")
        .stdin(Stdio::null());
    Ok(psql)
}
