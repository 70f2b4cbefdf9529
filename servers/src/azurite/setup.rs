//! How an Azurite is started, for `cargo xtask up` and for tests, and how it is
//! asked whether it is there. It listens on 127.0.0.1 and tells nobody that it
//! is used.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::account::Account;
use crate::problem::Outcome;
use crate::programs;
use crate::server::Kind;
use crate::site::Site;

use super::package;

/// How long a server on this machine may take for each step.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much of an answer is read at most.
const ENOUGH: u64 = 16 << 10;

/// The server, by the name that `start.js` gives it.
pub const KIND: Kind = Kind {
    program: "azurite",
    ready,
    quit: Signal::TERM,
};

/// What it needs: the programs, and the Debian packages that have them.
pub const NEEDS: &[(&str, &str)] = &[("node", "nodejs"), ("npm", "npm")];

/// What differs from a server out of the box, in a container too. It is an
/// emulator and knows the versions of the service up to its own day; a client
/// that is younger is no worse for that.
pub const OPTIONS: &[&str] = &["--silent", "--skipApiVersionCheck", "--disableTelemetry"];

/// The option of a server that keeps nothing.
pub const FORGETFUL: &str = "--inMemoryPersistence";

/// Mebibytes for its objects. Node would go on to take a good part of the
/// machine before it tidied up, and there may be many servers.
const MEMORY: &str = "--max-old-space-size=512";

/// What a server still has when it was started again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keeps {
    /// What it wrote to its directory.
    WhatItWrote,
    /// Nothing.
    Nothing,
}

/// The address of a server, with the account that each has from the start.
pub fn url(port: u16) -> String {
    format!("azblob+http://127.0.0.1:{port}/devstoreaccount1")
}

/// Whether what listens on the port is an Azurite that answers, with whatever:
/// who asks has no key.
pub fn ready(port: u16) -> bool {
    answer(port).is_ok_and(|text| is_azurite(&text))
}

fn answer(port: u16) -> io::Result<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
    let mut text = Vec::new();
    stream.take(ENOUGH).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn is_azurite(answer: &str) -> bool {
    let head = answer.split("\r\n\r\n").next().unwrap_or_default();
    let mut lines = head.lines();
    lines.next().is_some_and(|line| line.starts_with("HTTP/1."))
        && lines.any(|line| line.starts_with("Server: Azurite-Blob/"))
}

/// The server in the foreground, its log on its standard output. It runs as
/// whoever starts it: it refuses nobody, and another account may not get to
/// where its package is.
///
/// # Errors
/// If Node is missing or Azurite cannot be fetched.
pub fn command(site: &Site, keeps: Keeps) -> Outcome<Command> {
    let (node, start) = program()?;
    let mut azurite = Account::ours().command(node);
    azurite
        .arg(MEMORY)
        .arg(start)
        .args(["--blobHost", "127.0.0.1", "--blobPort"])
        .arg(site.port.to_string())
        .args(OPTIONS);
    match keeps {
        Keeps::WhatItWrote => azurite.arg("--location").arg(&site.directory),
        Keeps::Nothing => azurite.arg(FORGETFUL),
    };
    Ok(azurite)
}

/// Where Node is, and the script it is told to run.
pub(super) fn program() -> Outcome<(PathBuf, PathBuf)> {
    Ok((programs::get_from("node", "nodejs")?, package::get()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_by_azurite_shows_that_it_is_there() {
        assert!(is_azurite(
            "HTTP/1.1 400 Bad Request\r\nServer: Azurite-Blob/3.37.0\r\n\r\n"
        ));
    }

    #[test]
    fn another_server_is_no_azurite_whatever_it_says() {
        for answer in [
            "",
            "-ERR unknown command\r\n",
            "HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nServer: Azurite-Blob/3.37.0",
        ] {
            assert!(!is_azurite(answer));
        }
    }
}
