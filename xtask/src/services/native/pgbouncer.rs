//! PgBouncer in front of our PostgreSQL, in transaction mode: a client gets a
//! connection to the server for one transaction and then perhaps another one,
//! which is where locks of a session get lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::outcome::{Failure, Outcome};
use crate::services::url::{PASSWORD, USER};

use super::programs;
use super::site::Site;

const CONFIG: &str = "pgbouncer.ini";
const USERS: &str = "users.txt";

/// Writes the configuration; true when it differs from what a running one read.
pub(crate) fn prepare(site: &Site<'_>) -> Outcome<bool> {
    let upstream = site.upstream.ok_or_else(|| {
        Failure::failed("PgBouncer needs PostgreSQL behind it; run `cargo xtask up` without names.")
    })?;
    let wanted = config(&site.directory, site.port, upstream);
    if fs::read_to_string(site.directory.join(CONFIG)).is_ok_and(|there| there == wanted) {
        return Ok(false);
    }
    // In plain text, because SCRAM towards the server needs it: pgbouncer(5), auth_file.
    site.write(USERS, &format!("\"{USER}\" \"{PASSWORD}\"\n"))?;
    site.write(CONFIG, &wanted)?;
    Ok(true)
}

/// PgBouncer in the foreground, its log on its standard error.
pub(crate) fn command(site: &Site<'_>) -> Outcome<Command> {
    let mut pgbouncer = site.account.command(programs::get("pgbouncer")?);
    pgbouncer.arg(site.directory.join(CONFIG));
    Ok(pgbouncer)
}

fn config(directory: &Path, port: u16, upstream: u16) -> String {
    let users = directory.join(USERS);
    format!(
        "[databases]\n\
         * = host=127.0.0.1 port={upstream}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = scram-sha-256\n\
         auth_file = {}\n\
         admin_users = {USER}\n\
         pool_mode = transaction\n",
        users.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_server_behind_it_is_another_configuration() {
        let with = |upstream| config(Path::new("/d"), 20001, upstream);
        assert_ne!(with(20002), with(20003));
        assert!(with(20002).contains("pool_mode = transaction\n"));
    }
}
