//! A PostgreSQL server of our own: how it is set up and how it is started. It
//! is durable like a real one, wants a password like a real one, and listens
//! on 127.0.0.1 and on nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::run::{self, Ended};
use crate::services::progress;
use crate::services::url::{PASSWORD, USER};

use super::programs;
use super::server;
use super::site::Site;

/// How long making a data directory may take.
const INIT: Duration = Duration::from_secs(120);

/// What differs from a server out of the box, in the container as well.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
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

/// Makes the data directory, unless there is one. It gets its name when it is
/// whole, so that what an interrupted run left is not mistaken for one.
pub(crate) fn prepare(site: &Site<'_>) -> Outcome<bool> {
    let data = site.directory.join("data");
    if data.is_dir() {
        return Ok(false);
    }
    let half = site.directory.join("data.half");
    if half.exists() {
        fs::remove_dir_all(&half).map_err(|error| files::unusable(&half, &error))?;
    }
    progress::step("postgres: making a data directory", INIT, || {
        init(site, &half)
    })?;
    fs::rename(&half, &data).map_err(|error| files::unusable(&data, &error))?;
    Ok(true)
}

/// The server in the foreground, its log on its standard error. None may run
/// in the directory.
pub(crate) fn command(site: &Site<'_>) -> Outcome<Command> {
    let data = site.directory.join("data");
    forget_the_dead(&data.join("postmaster.pid"))?;
    let mut postgres = site.account.command(programs::get("postgres")?);
    postgres.arg("-D").arg(data);
    postgres.args(["-p", &site.port.to_string()]);
    for (name, value) in SETTINGS.iter().chain(ALONE) {
        postgres.args(["-c", &format!("{name}={value}")]);
    }
    Ok(postgres)
}

/// A server that was killed leaves its number, and the next one refuses to
/// start while there is such a process. In a container whose first process
/// does not reap orphans there is, for ever, a zombie. That nothing works in
/// the directory was made sure before, with better means than a number.
fn forget_the_dead(pid_file: &Path) -> Outcome {
    match fs::remove_file(pid_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(files::unusable(pid_file, &error))
        }
        _ => Ok(()),
    }
}

fn init(site: &Site<'_>, data: &Path) -> Outcome {
    let password = site.write("password", &format!("{PASSWORD}\n"))?;
    let log = server::open_log(site)?;
    let mut initdb = site.account.command(initdb()?);
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
        .stdout(
            log.try_clone()
                .map_err(|error| files::unusable(data, &error))?,
        )
        .stderr(log);
    let ended = run::within(&mut initdb, INIT)?;
    fs::remove_file(&password).map_err(|error| files::unusable(&password, &error))?;
    match ended {
        Ended::Exited(status) if status.success() => Ok(()),
        _ => Err(Failure::failed(format!(
            "`initdb` made no data directory; the end of its log says why:\n{}",
            server::tail(&site.log())
        ))),
    }
}

/// It must be of the same version as the server.
fn initdb() -> Outcome<std::path::PathBuf> {
    Ok(programs::get("postgres")?.with_file_name("initdb"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_has_the_same_settings() {
        let file = include_str!("../../../../docker-compose.yml");
        for (name, value) in SETTINGS {
            assert!(file.contains(&format!("- {name}={value}\n")), "{name}");
        }
    }
}
