//! A client of Redis for whoever starts one: one connection for one command.
//! It is here so that a server can be asked without a program or a crate that
//! would have to be there first.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Where a server of this machine listens without TLS.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// On 127.0.0.1.
    Port(u16),
    /// In its directory, when its port speaks TLS only.
    Socket(PathBuf),
}

/// What a server answered.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// An answer; the parts of a list are lines.
    Said(String),
    /// An error, in the words of the server.
    Refused(String),
}

/// Asks one question after the other on one connection; the last reply. Each
/// step of it may take as long as the limit.
pub(crate) fn ask(at: &Address, limit: Duration, questions: &[&[&str]]) -> Result<Reply> {
    match at {
        Address::Port(port) => {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
            let stream = TcpStream::connect_timeout(&address, limit)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            converse(stream, questions)
        }
        Address::Socket(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            converse(stream, questions)
        }
    }
}

fn converse(mut stream: impl Read + Write, questions: &[&[&str]]) -> Result<Reply> {
    let request: String = questions.iter().map(|words| encoded(words)).collect();
    stream.write_all(request.as_bytes())?;
    let mut stream = BufReader::new(stream);
    let mut last = Reply::Said(String::new());
    for _ in questions {
        last = reply(&mut stream)?;
    }
    Ok(last)
}

/// A command as a list of words, so that any byte may be in one.
fn encoded(words: &[&str]) -> String {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    text
}

/// Reads one whole reply: Redis manual, "RESP protocol specification", as it
/// is for clients that did not ask for version 3.
fn reply(from: &mut impl BufRead) -> Result<Reply> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let line = line.trim_end_matches(['\r', '\n']);
    let (kind, rest) = line
        .split_at_checked(1)
        .ok_or(Error::from(ErrorKind::UnexpectedEof))?;
    match kind {
        "+" | ":" => Ok(Reply::Said(rest.to_owned())),
        "-" => Ok(Reply::Refused(rest.to_owned())),
        "$" => text(from, length(rest)?).map(Reply::Said),
        "*" => list(from, length(rest)?),
        _ => Err(strange(line)),
    }
}

/// None for what is not there.
fn length(digits: &str) -> Result<Option<usize>> {
    match digits {
        "-1" => Ok(None),
        _ => digits.parse().map(Some).map_err(|_| strange(digits)),
    }
}

fn text(from: &mut impl BufRead, length: Option<usize>) -> Result<String> {
    let Some(length) = length else {
        return Ok(String::new());
    };
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    from.read_exact(&mut [0; 2])?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn list(from: &mut impl BufRead, length: Option<usize>) -> Result<Reply> {
    let mut lines = Vec::new();
    for _ in 0..length.unwrap_or(0) {
        match reply(from)? {
            Reply::Said(line) | Reply::Refused(line) => lines.push(line),
        }
    }
    Ok(Reply::Said(lines.join("\n")))
}

fn strange(line: &str) -> Error {
    Error::other(format!("`{line}` is nothing that a Redis says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<Reply> {
        reply(&mut bytes)
    }

    fn said(text: &str) -> Reply {
        Reply::Said(text.to_owned())
    }

    #[test]
    fn every_kind_of_reply_is_read_to_its_end() {
        assert_eq!(read(b"+PONG\r\n").unwrap(), said("PONG"));
        assert_eq!(read(b":7\r\n").unwrap(), said("7"));
        assert_eq!(read(b"$5\r\na\r\nbc\r\n").unwrap(), said("a\r\nbc"));
        assert_eq!(read(b"$-1\r\n").unwrap(), said(""));
        assert_eq!(
            read(b"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n").unwrap(),
            said("1\nx")
        );
        let refusal = Reply::Refused("NOAUTH no".to_owned());
        assert_eq!(read(b"-NOAUTH no\r\n").unwrap(), refusal);
    }

    #[test]
    fn half_a_reply_is_none() {
        for half in [&b""[..], b"$5\r\nab", b"*2\r\n:1\r\n", b"HTTP/1.1 400\r\n"] {
            assert!(read(half).is_err());
        }
    }

    #[test]
    fn a_command_tells_the_length_of_each_word() {
        let bytes = "*2\r\n$3\r\nGET\r\n$3\r\na b\r\n";
        assert_eq!(encoded(&["GET", "a b"]), bytes);
    }
}
