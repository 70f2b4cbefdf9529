//! The server that all these cells share: started once for a run, and ended with it.
//!
//! Its data is beside this program, on a disk, and not where tests have theirs, which is in
//! memory. Where that is, a process is told by its environment; so a process of its own starts it.

use crate::{
    cell::Outcome,
    cells::{Role, beside, everything_on_one_thread},
    process::{Line, Other},
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
    address: SocketAddr,
    url: String,
    about: String,
    /// It ends when nobody can hear it any more.
    _line: Line,
    _process: Other,
}

/// Starts the server, says its port, and ends it when whoever started this is gone.
fn play(_: &Path, mut line: Line) -> Outcome<()> {
    let server = Postgres::start(Settings::new())?;
    line.say(u64::from(server.port()))?;
    // An error says that nobody is there.
    let _ = line.hear();
    drop(server);
    Ok(())
}

fn server() -> Outcome<&'static Server> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    let server = SERVER.get_or_init(|| start().map_err(|error| error.to_string()));
    server.as_ref().map_err(|error| error.as_str().into())
}

fn start() -> Outcome<Server> {
    let (process, mut line) = Other::start(ROLE.name, &beside()?)?;
    let ended = |_| "the server did not start, and said why above";
    let port = line.hear().map_err(ended)?;
    let address = SocketAddr::from(([127, 0, 0, 1], port.try_into()?));
    let url = format!("postgres://{USER}@{address}/{DATABASE}?sslmode=disable");
    let about = everything_on_one_thread()?.block_on(about(&url))?;
    Ok(Server {
        address,
        url,
        about,
        _line: line,
        _process: process,
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
pub(super) fn url() -> Outcome<&'static str> {
    Ok(&server()?.url)
}

/// Where the server is.
pub(super) fn address() -> Outcome<SocketAddr> {
    Ok(server()?.address)
}

/// Its version, and the settings that bear on the numbers.
pub(in crate::cells) fn about_server() -> Outcome<String> {
    Ok(server()?.about.clone())
}

/// A connection by the plain driver, for as long as the runtime runs.
pub(super) async fn client(url: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
