//! The server that all these cells share: started once for a run, and ended with it.

use crate::{
    cell::Outcome,
    cells::{
        Role,
        served::{Process, keep_until_alone},
    },
    process::Line,
};
use lockwork_servers::{Redis, RedisSettings, redis};
use std::{path::Path, sync::OnceLock};

pub(super) const ROLE: Role = Role {
    name: "redis-server",
    play,
};

/// One whom the server lets do everything but tell others something.
const MUTE: &str = "mute";

#[derive(Debug)]
struct Server {
    process: Process,
    about: String,
}

fn play(_: &Path, line: Line) -> Outcome<()> {
    let server = Redis::start(RedisSettings::new())?;
    let port = server.port();
    keep_until_alone(server, port, line)
}

fn server() -> Outcome<&'static Server> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    let server = SERVER.get_or_init(|| start().map_err(|error| error.to_string()));
    server.as_ref().map_err(|error| error.as_str().into())
}

fn start() -> Outcome<Server> {
    let process = Process::start(ROLE.name)?;
    let port = process.address.port();
    let mute = ["on", "nopass", "~*", "&*", "+@all", "-publish"];
    redis::ask(port, &[&["ACL", "SETUSER", MUTE], &mute[..]].concat())?;
    let about = about(port)?;
    Ok(Server { process, about })
}

fn about(port: u16) -> Outcome<String> {
    let told = redis::ask(port, &["INFO", "server"])?;
    let version = told
        .lines()
        .find_map(|line| line.strip_prefix("redis_version:"));
    let version = version.ok_or("the server does not tell its version")?;
    let mut words = Vec::new();
    for name in ["save", "appendonly", "io-threads", "hz", "maxclients"] {
        let said = redis::ask(port, &["CONFIG", "GET", name])?;
        let value = said.lines().nth(1).filter(|value| !value.is_empty());
        words.push(format!("{name} {}", value.unwrap_or("none")));
    }
    Ok(format!(
        "Redis {version} on this machine, by TCP without TLS, nothing kept on disk; {}",
        words.join(", ")
    ))
}

/// Its version, and the settings that bear on the numbers.
pub(in crate::cells) fn about_server() -> Outcome<String> {
    Ok(server()?.about.clone())
}

/// How everybody connects.
pub(in crate::cells) fn url() -> Outcome<String> {
    Ok(format!("redis://{}", server()?.process.address))
}

/// How one connects whom nobody hears.
pub(super) fn mute_url() -> Outcome<String> {
    Ok(format!("redis://{MUTE}:any@{}", server()?.process.address))
}

fn ask(words: &[&str]) -> Outcome<String> {
    Ok(redis::ask(server()?.process.address.port(), words)?)
}

/// How many calls of scripts the server has had from anybody. All that lockwork asks for is one.
pub(super) fn calls() -> Outcome<u64> {
    let told = ask(&["INFO", "commandstats"])?;
    let of = |name: &str| -> Outcome<u64> {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        let calls = line.and_then(|line| line.strip_prefix(":calls=")?.split(',').next());
        Ok(calls.map_or(Ok(0), str::parse)?)
    };
    Ok(of("cmdstat_evalsha")? + of("cmdstat_eval")?)
}

/// How many connections a process has that uses lockwork.
pub(super) fn connections_of(process: u32) -> Outcome<u64> {
    let told = ask(&["CLIENT", "LIST"])?;
    let end = format!("/{process}");
    let is_its = |word: &str| word.starts_with("name=lockwork/") && word.ends_with(&end);
    let its = told.lines().filter(|line| line.split(' ').any(is_its));
    Ok(its.count() as u64)
}
