//! Counting what passes through the proxy: connections, bytes, and the messages a client of
//! PostgreSQL sends.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What has passed since the proxy started.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Connections that are open now.
    pub open: u64,
    /// Connections there ever were.
    pub connections: u64,
    /// Bytes from clients that went on to the server.
    pub sent: u64,
    /// Bytes from the server that went on to clients.
    pub received: u64,
    /// `Execute` and `Query` messages among the former, in PostgreSQL's protocol.
    pub statements: u64,
    /// Batches and calls among them, in that of SQL Server.
    pub tds_requests: u64,
}

#[derive(Debug, Default)]
pub(super) struct Meter {
    open: AtomicU64,
    connections: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) statements: AtomicU64,
    pub(super) tds_requests: AtomicU64,
}

impl Meter {
    pub(super) fn read(&self) -> Counts {
        Counts {
            open: self.open.load(Relaxed),
            connections: self.connections.load(Relaxed),
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
            statements: self.statements.load(Relaxed),
            tds_requests: self.tds_requests.load(Relaxed),
        }
    }

    /// Counts a connection for as long as what is returned lives.
    pub(super) fn connected(self: &Arc<Self>) -> Open {
        self.connections.fetch_add(1, Relaxed);
        self.open.fetch_add(1, Relaxed);
        Open(self.clone())
    }
}

/// A connection that is counted as open.
#[derive(Debug)]
pub(super) struct Open(Arc<Meter>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

/// Finds the statements in what one client sends. The first message has no kind, only its length;
/// every later one has a byte for its kind before the length: PostgreSQL manual, 55.7.
#[derive(Debug, Default)]
pub(super) struct Frames {
    started: bool,
    /// The beginning of a message, until its length is known.
    head: Vec<u8>,
    /// How much of a message is still to come.
    rest: u64,
}

impl Frames {
    /// How many statements begin in these bytes, the next of the stream.
    pub(super) fn statements(&mut self, mut bytes: &[u8]) -> u64 {
        let mut found = 0;
        while !bytes.is_empty() {
            let within = bytes
                .len()
                .min(usize::try_from(self.rest).unwrap_or(usize::MAX));
            self.rest -= within as u64;
            bytes = &bytes[within..];
            if let Some((byte, later)) = bytes.split_first() {
                self.head.push(*byte);
                bytes = later;
                found += u64::from(self.head_is_statement());
            }
        }
        found
    }

    /// Looks at the head, once it is whole, and begins to skip the message behind it.
    fn head_is_statement(&mut self) -> bool {
        let kind = usize::from(self.started);
        let Some(length) = self.head[kind.min(self.head.len())..].first_chunk::<4>() else {
            return false;
        };
        // The length counts itself.
        self.rest = u64::from(u32::from_be_bytes(*length)).saturating_sub(4);
        let statement = self.started && matches!(self.head[0], b'E' | b'Q');
        // Before that message a client may ask for encryption, in 8 bytes; it is refused here.
        self.started |= self.rest != 4;
        self.head.clear();
        statement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &[u8], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(4 + body.len()).unwrap().to_be_bytes();
        [kind, &length, body].concat()
    }

    fn session() -> Vec<u8> {
        [
            // SSLRequest, StartupMessage, Query, Parse, Bind, Execute, Sync.
            message(b"", &80_877_103_u32.to_be_bytes()),
            message(b"", b"\0\x03\0\0user\0EQ\0\0"),
            message(b"Q", b"select 'E\0\0\0\x04'\0"),
            message(b"P", b"s\0select 1\0\0\0"),
            message(b"B", b"\0s\0\0\0\0\0\0\0"),
            message(b"E", b"\0\0\0\0\0"),
            message(b"S", b""),
        ]
        .concat()
    }

    #[test]
    fn statements_are_counted_and_nothing_else() {
        assert_eq!(Frames::default().statements(&session()), 2);
    }

    #[test]
    fn it_does_not_matter_how_the_stream_is_cut() {
        for size in 1..9 {
            let mut frames = Frames::default();
            let pieces = session();
            let found: u64 = pieces.chunks(size).map(|p| frames.statements(p)).sum();
            assert_eq!(found, 2, "in pieces of {size}");
        }
    }
}
