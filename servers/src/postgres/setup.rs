//! How a PostgreSQL server is set up and started, for `cargo xtask up` and for
//! tests. It is durable like a real one, wants a password like a real one, and
//! listens on 127.0.0.1 and on nothing else, unless told otherwise.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::health;
use crate::login::{PASSWORD, USER};
use crate::problem::{Outcome, Problem, unusable};
use crate::programs;
use crate::run::{self, Ended};
use crate::server::{self, Kind};
use crate::site::Site;

/// How long making a data directory may take.
pub const INIT: Duration = Duration::from_secs(120);

/// The server.
pub const KIND: Kind = Kind {
    program: "postgres",
    ready: health::greets,
    // "Immediate Shutdown": PostgreSQL manual, 19.5.
    quit: Signal::QUIT,
};

/// What differs from a server out of the box, in the container as well.
const SETTINGS: &[(&str, &str)] = &[
    // A lock must not outlive what the disk remembers of it.
    ("fsync", "on"),
    ("max_connections", "100"),
    ("max_locks_per_transaction", "256"),
    // Who waits longer than deadlock_timeout is in the log, and may lower that.
    ("log_lock_waits", "on"),
];

/// What differs further where there is no container around it: no socket in a
/// directory that others use too.
const ALONE: &[(&str, &str)] = &[
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("log_line_prefix", "%m [%p] "),
];

/// Where the data of a site is.
pub(crate) fn data(site: &Site) -> PathBuf {
    site.directory.join("data")
}

/// Whether the site has its data directory.
pub fn is_made(site: &Site) -> bool {
    data(site).is_dir()
}

/// Makes the data directory. It gets its name when it is whole, so that what
/// an interrupted run left is not mistaken for one.
///
/// # Errors
/// If `initdb` is missing or fails.
pub fn make(site: &Site) -> Outcome {
    let (data, half) = (data(site), site.directory.join("data.half"));
    if half.exists() {
        fs::remove_dir_all(&half).map_err(|error| unusable(&half, &error))?;
    }
    init(site, &half)?;
    fs::rename(&half, &data).map_err(|error| unusable(&data, &error))
}

/// The server in the foreground, its log on its standard error. None may run
/// in the directory.
///
/// # Errors
/// If `postgres` is missing.
pub fn command(site: &Site) -> Outcome<Command> {
    let data = data(site);
    forget_the_dead(&data.join("postmaster.pid"))?;
    let mut postgres = site.account.command(programs::get("postgres")?);
    postgres.arg("-D").arg(data);
    postgres.args(["-p", &site.port.to_string()]);
    for (name, value) in SETTINGS.iter().chain(ALONE) {
        set(&mut postgres, name, value);
    }
    Ok(postgres)
}

/// Adds a setting, which replaces an earlier one of the same name.
pub(crate) fn set(postgres: &mut Command, name: &str, value: &str) {
    postgres.args(["-c", &format!("{name}={value}")]);
}

/// A program that is installed beside the server, and is of its version.
pub(crate) fn beside(name: &str) -> Outcome<PathBuf> {
    let program = programs::get("postgres")?.with_file_name(name);
    match program.is_file() {
        true => Ok(program),
        false => programs::get(name),
    }
}

/// A server that was killed leaves its number, and the next one refuses to
/// start while there is such a process. In a container whose first process
/// does not reap orphans there is, for ever, a zombie. That nothing works in
/// the directory was made sure before, with better means than a number.
fn forget_the_dead(pid_file: &Path) -> Outcome {
    match fs::remove_file(pid_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(unusable(pid_file, &error))
        }
        _ => Ok(()),
    }
}

fn init(site: &Site, data: &Path) -> Outcome {
    let password = site.write("password", &format!("{PASSWORD}\n"))?;
    let log = server::open_log(site)?;
    let mut initdb = site.account.command(beside("initdb")?);
    initdb
        .arg("--pgdata")
        .arg(data)
        .arg("--pwfile")
        .arg(&password)
        .args(["--username", USER, "--auth", "scram-sha-256"])
        .args(["--encoding", "UTF8", "--locale", "C"])
        // What is lost when the machine fails now is made anew.
        .arg("--no-sync")
        .current_dir(&site.directory)
        .stdout(log.try_clone().map_err(|error| unusable(data, &error))?)
        .stderr(log);
    let ended = run::within(&mut initdb, INIT);
    fs::remove_file(&password).map_err(|error| unusable(&password, &error))?;
    match ended {
        Ok(Ended::Exited(status)) if status.success() => Ok(()),
        _ => Err(Problem::new(format!(
            "`initdb` made no data directory; the end of its log says why:\n{}",
            server::tail(&site.log())
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_has_the_same_settings() {
        let file = include_str!("../../../docker-compose.yml");
        for (name, value) in SETTINGS {
            assert!(file.contains(&format!("- {name}={value}\n")), "{name}");
        }
    }
}
