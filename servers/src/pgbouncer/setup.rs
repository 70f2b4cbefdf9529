//! How PgBouncer is set up and started in front of a PostgreSQL, for `cargo
//! xtask up` and for tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::health;
use crate::login::{PASSWORD, USER};
use crate::problem::Outcome;
use crate::programs;
use crate::server::Kind;
use crate::site::Site;

const CONFIG: &str = "pgbouncer.ini";
const USERS: &str = "users.txt";

/// PgBouncer.
pub const KIND: Kind = Kind {
    program: "pgbouncer",
    ready: health::greets,
    quit: Signal::TERM,
};

/// For how long a client has one connection to the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PoolMode {
    /// For one transaction, and then perhaps another one: that is where locks
    /// of a session get lost.
    Transaction,
    /// For as long as the client stays.
    Session,
}

/// Writes the configuration; true when it differs from what a running one read.
///
/// # Errors
/// If the directory cannot be written in.
pub fn configure(site: &Site, upstream: u16, mode: PoolMode, password: bool) -> Outcome<bool> {
    let wanted = config(site, upstream, mode, password);
    if fs::read_to_string(site.directory.join(CONFIG)).is_ok_and(|there| there == wanted) {
        return Ok(false);
    }
    // In plain text, because SCRAM towards the server needs it: pgbouncer(5), auth_file.
    site.write(USERS, &format!("\"{USER}\" \"{PASSWORD}\"\n"))?;
    site.write(CONFIG, &wanted)?;
    Ok(true)
}

/// PgBouncer in the foreground, its log on its standard error.
///
/// # Errors
/// If `pgbouncer` is missing.
pub fn command(site: &Site) -> Outcome<Command> {
    let mut pgbouncer = site.account.command(programs::get("pgbouncer")?);
    pgbouncer.arg(site.directory.join(CONFIG));
    Ok(pgbouncer)
}

fn config(site: &Site, upstream: u16, mode: PoolMode, password: bool) -> String {
    let port = site.port;
    let users: &Path = &site.directory.join(USERS);
    let auth = if password { "scram-sha-256" } else { "trust" };
    let mode = match mode {
        PoolMode::Transaction => "transaction",
        PoolMode::Session => "session",
    };
    format!(
        "[databases]\n\
         * = host=127.0.0.1 port={upstream}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = {auth}\n\
         auth_file = {}\n\
         admin_users = {USER}\n\
         pool_mode = {mode}\n",
        users.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;

    #[test]
    fn another_server_behind_it_is_another_configuration() {
        let site = Site {
            account: Account::for_servers().unwrap(),
            directory: "/d".into(),
            port: 20001,
        };
        let with = |upstream| config(&site, upstream, PoolMode::Transaction, true);
        assert_ne!(with(20002), with(20003));
        assert!(with(20002).contains("pool_mode = transaction\n"));
    }
}
