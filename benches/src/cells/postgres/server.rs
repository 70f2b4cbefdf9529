//! The server that all these cells share: started once for a run, and ended with it.
//!
//! Its data is on a disk, and not where tests have theirs, which is in memory.

use crate::{
    cell::Outcome,
    cells::{
        Role, everything_on_one_thread,
        served::{Process, keep_until_alone},
    },
    process::Line,
};
use lockwork_servers::{
    Postgres, Settings,
    login::{DATABASE, USER},
};
use std::{net::SocketAddr, path::Path, sync::OnceLock};
use tokio_postgres::{Client, NoTls};

pub(super) const ROLE: Role = Role {
    name: "postgres-server",
    play,
};

#[derive(Debug)]
struct Server {
    process: Process,
    url: String,
    about: String,
}

fn play(_: &Path, line: Line) -> Outcome<()> {
    let server = Postgres::start(Settings::new())?;
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
    let address = process.address;
    let url = format!("postgres://{USER}@{address}/{DATABASE}?sslmode=disable");
    let about = everything_on_one_thread()?.block_on(about(&url))?;
    Ok(Server {
        process,
        url,
        about,
    })
}

async fn about(url: &str) -> Outcome<String> {
    let client = client(url).await?;
    let mut words = Vec::new();
    for name in [
        "fsync",
        "synchronous_commit",
        "shared_buffers",
        "max_connections",
        "max_locks_per_transaction",
    ] {
        let value: String = client
            .query_one("SELECT current_setting($1)", &[&name])
            .await?
            .get(0);
        words.push(format!("{name} {value}"));
    }
    let version = client.query_one("SHOW server_version", &[]).await?;
    let version: String = version.get(0);
    Ok(format!(
        "PostgreSQL {version} on this machine, by TCP without TLS, data on disk; {}",
        words.join(", ")
    ))
}

/// How everybody connects: without TLS.
pub(in crate::cells) fn url() -> Outcome<&'static str> {
    Ok(&server()?.url)
}

/// Where the server is.
pub(super) fn address() -> Outcome<SocketAddr> {
    Ok(server()?.process.address)
}

/// Its version, and the settings that bear on the numbers.
pub(in crate::cells) fn about_server() -> Outcome<String> {
    Ok(server()?.about.clone())
}

/// A connection by the plain driver, for as long as the runtime runs.
pub(in crate::cells) async fn client(url: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
