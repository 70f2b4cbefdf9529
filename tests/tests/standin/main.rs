//! Whether the stand-in server and its two backends do what the conformance suite relies on.

mod breaking;
mod excluding;
mod leases;
mod sessions;
mod upgrading;

use lockwork::{Deadline, Instant, Locks, Mode, Name, Request};
use lockwork_conformance::standin::{LeaseBackend, Server, SessionBackend};
use std::{future::Future, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{sleep, timeout},
};

const LIMIT: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_secs(1);
const OWNER: &str = "00112233445566778899aabbccddeeff";

/// Both backends, each as somebody who is alone with its connection.
const KINDS: [fn(&Server) -> Locks; 2] = [
    |server| Locks::with_tenure(LeaseBackend::new(server.addr()), Duration::ZERO),
    |server| Locks::with_tenure(SessionBackend::new(server.addr()), Duration::ZERO),
];

/// The same with leases so long that nothing is gone just because its time is up.
const LASTING: [fn(&Server) -> Locks; 2] = [
    |server| Locks::with_tenure(lasting(server), Duration::ZERO),
    KINDS[1],
];

fn lasting(server: &Server) -> LeaseBackend {
    LeaseBackend::with_lease(server.addr(), Duration::from_secs(30))
}

async fn limited<T>(work: impl Future<Output = T>) -> T {
    let done = timeout(LIMIT, work).await;
    done.unwrap_or_else(|_| panic!("this test is not over after {LIMIT:?}"))
}

/// Waits until `fact` is true, and fails if that takes too long.
async fn becomes(what: &str, within: Duration, fact: impl Fn() -> bool) {
    let limit = Instant::now() + within;
    while !fact() {
        assert!(!limit.has_passed(), "not within {within:?}: {what}");
        sleep(Duration::from_millis(2)).await;
    }
}

async fn nothing_stays(server: &Server) {
    becomes("nothing is held and nobody waits", SOON, || {
        server.locks_now() == 0 && server.waiters_now() == 0
    })
    .await;
}

fn request(name: &str, deadline: Deadline) -> Request {
    let name = Name::new(name).expect("a name");
    Request::new(name, Mode::Exclusive, deadline)
}

/// A client that says what it is told, word by word.
struct Raw(BufReader<TcpStream>);

impl Raw {
    async fn to(server: &Server) -> Self {
        let stream = TcpStream::connect(server.addr()).await;
        Self(BufReader::new(stream.expect("the server listens")))
    }

    async fn says(&mut self, line: &str) -> String {
        let line = format!("{line}\n");
        let written = self.0.write_all(line.as_bytes()).await;
        written.expect("the server is there");
        self.hears().await
    }

    /// The next line; empty when the connection is closed.
    async fn hears(&mut self) -> String {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await;
        read.expect("the server is there");
        line.trim_end().to_owned()
    }
}
