//! A way to the server on which notifications get lost.
//!
//! After the first, all messages are a letter, a length in four bytes that counts itself, and the
//! rest: PostgreSQL manual, 54.7. Without TLS the server's first is like all others.

use crate::cell::Outcome;
use std::{
    io::{self, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
};

/// `NotificationResponse`.
const NOTIFICATION: u8 = b'A';

/// Forwards to `server` whatever comes to the address it yields, until this process ends.
pub(super) fn without_notifications(server: SocketAddr) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || {
                if let Err(error) = serve(client, server) {
                    eprintln!("a connection could not be forwarded: {error}");
                }
            });
        }
    });
    Ok(address)
}

fn serve(client: TcpStream, server: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        // Either way the client has nothing more to say.
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    // Either way the server has nothing more to say.
    let _ = filter(&server, &client);
    let _ = client.shutdown(Shutdown::Both);
    Ok(())
}

fn filter(from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut message = Vec::new();
    loop {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [letter, length @ ..] = head;
        message.clear();
        message.extend_from_slice(&head);
        let rest = u64::from(u32::from_be_bytes(length).saturating_sub(4));
        from.by_ref().take(rest).read_to_end(&mut message)?;
        if letter != NOTIFICATION {
            to.write_all(&message)?;
        }
    }
}
