//! How a Redis is set up and started, for `cargo xtask up` and for tests. It
//! listens on 127.0.0.1, and keeps nothing on disk unless told otherwise.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::port;
use crate::problem::Outcome;
use crate::programs;
use crate::server::Kind;
use crate::site::Site;

use super::wire::{self, Address, Reply};

const CONFIG: &str = "redis.conf";
const BUS: &str = "bus-port";

/// How long a server on this machine may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// The server.
pub const KIND: Kind = Kind {
    program: "redis-server",
    ready,
    quit: Signal::TERM,
};

/// The same, of those who went on when Redis changed its licence.
pub(super) const VALKEY: Kind = Kind {
    program: "valkey-server",
    ready,
    quit: Signal::TERM,
};

/// What differs from a server out of the box.
const SETTINGS: &[(&str, &str)] = &[
    ("bind", "127.0.0.1"),
    ("save", "\"\""),
    ("appendonly", "no"),
    // A replica is copied to at once, and not kept waiting for others.
    ("repl-diskless-sync-delay", "0"),
    // Who ends a server does not wait for a replica that is frozen.
    ("shutdown-timeout", "0"),
];

/// The address of the server of `up`, where everybody may do everything: tests
/// make users of their own.
pub fn url(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

/// The addresses of several servers of which a majority decides.
pub fn quorum_url(ports: &[u16]) -> String {
    format!("redis+quorum://{}", addresses(ports))
}

/// The addresses of the nodes of a cluster.
pub fn cluster_url(ports: &[u16]) -> String {
    format!("redis+cluster://{}", addresses(ports))
}

fn addresses(ports: &[u16]) -> String {
    let each = ports.iter().map(|port| format!("127.0.0.1:{port}"));
    each.collect::<Vec<_>>().join(",")
}

/// Whether what listens on the port is a Redis that has read its data: it
/// answers a ping, or wants to know first who asks.
pub fn ready(port: u16) -> bool {
    answers(&Address::Port(port))
}

pub(super) fn answers(at: &Address) -> bool {
    match wire::ask(at, PATIENCE, &[&["PING"]]) {
        Ok(Reply::Said(word)) => word == "PONG",
        Ok(Reply::Refused(why)) => why.starts_with("NOAUTH") || why.starts_with("NOPERM"),
        Err(_) => false,
    }
}

/// Writes the configuration; true when it differs from what a running one
/// read. A later setting wins over an earlier one.
///
/// # Errors
/// If the directory cannot be written in.
pub fn configure(site: &Site, settings: &[(String, String)]) -> Outcome<bool> {
    let wanted = config(site, settings);
    if fs::read_to_string(site.directory.join(CONFIG)).is_ok_and(|there| there == wanted) {
        return Ok(false);
    }
    site.write(CONFIG, &wanted)?;
    Ok(true)
}

/// The settings of a node of a cluster. What nodes tell each other goes
/// through a port that is chosen once, for the others remember it.
///
/// # Errors
/// If there is no free port or the directory cannot be written in.
pub fn node(site: &Site) -> Outcome<Vec<(String, String)>> {
    let there = fs::read_to_string(site.directory.join(BUS)).ok();
    let bus: u16 = match there.and_then(|text| text.parse().ok()) {
        Some(bus) => bus,
        None => port::keep_or_choose(None)?,
    };
    site.write(BUS, &bus.to_string())?;
    Ok(vec![
        setting("cluster-enabled", "yes"),
        setting("cluster-port", &bus.to_string()),
        // A node that is gone is noticed within a test, and a slow one is not
        // taken for gone.
        setting("cluster-node-timeout", "5000"),
    ])
}

/// A name and a value for [`configure`].
pub fn setting(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// A path as a value for [`configure`].
pub fn path(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The server in the foreground, its log on its standard output.
///
/// # Errors
/// If `redis-server` is missing.
pub fn command(site: &Site) -> Outcome<Command> {
    Ok(command_of(&program()?, site))
}

pub(super) fn command_of(program: &Path, site: &Site) -> Command {
    let mut redis = site.account.command(program);
    redis.arg(site.directory.join(CONFIG));
    redis
}

/// Where Redis is.
pub(super) fn program() -> Outcome<std::path::PathBuf> {
    programs::get_from(KIND.program, "redis-server")
}

fn config(site: &Site, settings: &[(String, String)]) -> String {
    let mut text = format!("port {}\ndir {}\n", site.port, path(&site.directory));
    for (name, value) in SETTINGS {
        text.push_str(&format!("{name} {value}\n"));
    }
    for (name, value) in settings {
        text.push_str(&format!("{name} {value}\n"));
    }
    text
}
