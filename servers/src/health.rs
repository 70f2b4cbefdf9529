//! Whether a server is ready for clients, for whoever started it: asked the way `pg_isready` does: a
//! client greets, and a ready server wants a password from it. One that is
//! starting up or shutting down says so instead, and one that is frozen or
//! gone says nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::login::{DATABASE, USER};

/// How long a server on this machine may take for each step.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether what listens on the port asks PostgreSQL's clients for a password.
pub fn greets(port: u16) -> bool {
    // `R` opens a request for authentication, `E` an error: PostgreSQL manual,
    // "Message Formats".
    answer(port).is_ok_and(|kind| kind == b'R')
}

/// The kind of the first message. It is read to its end, for a client that
/// leaves something unread is a broken connection in the server's log.
fn answer(port: u16) -> std::io::Result<u8> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&greeting())?;
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let rest = u64::from(u32::from_be_bytes(length)).saturating_sub(4);
    std::io::copy(&mut stream.take(rest), &mut std::io::sink())?;
    Ok(kind)
}

/// A `StartupMessage`: its own length, version 3.0, pairs of names and values.
fn greeting() -> Vec<u8> {
    let pairs = format!("user\0{USER}\0database\0{DATABASE}\0\0");
    let length = u32::try_from(8 + pairs.len()).unwrap_or(u32::MAX);
    let mut message = length.to_be_bytes().to_vec();
    message.extend([0, 3, 0, 0]);
    message.extend(pairs.as_bytes());
    message
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server for one client, to whom it gives one answer.
    fn server(answer: &'static [u8]) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut read = vec![0; greeting().len()];
            client.read_exact(&mut read).unwrap();
            client.write_all(answer).unwrap();
        });
        port
    }

    #[test]
    fn a_server_that_wants_a_password_is_ready() {
        assert!(greets(server(b"R\0\0\0\x08\0\0\0\x0a")));
    }

    #[test]
    fn a_server_that_complains_or_hangs_up_is_not_ready() {
        assert!(!greets(server(b"E\0\0\0\x05\0")));
        assert!(!greets(server(b"")));
    }

    #[test]
    fn a_greeting_begins_with_its_own_length() {
        let greeting = greeting();
        assert_eq!(
            greeting[..4],
            [0, 0, 0, u8::try_from(greeting.len()).unwrap()]
        );
    }
}
