//! Something between a node and the server that loses answers on command.

use sqlx::postgres::PgConnectOptions;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
};

pub(crate) struct Proxy {
    port: u16,
    /// How many answers to lose, with their connections.
    to_lose: Arc<AtomicUsize>,
}

impl Proxy {
    pub(crate) async fn to(server: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let to_lose = Arc::new(AtomicUsize::new(0));
        let (address, losing) = (
            (server.get_host().to_owned(), server.get_port()),
            to_lose.clone(),
        );
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(address.clone()).await.unwrap();
                tokio::spawn(pass(client, server, losing.clone()));
            }
        });
        Self { port, to_lose }
    }

    pub(crate) fn in_front_of(&self, server: PgConnectOptions) -> PgConnectOptions {
        server.host("127.0.0.1").port(self.port)
    }

    pub(crate) fn lose(&self, answers: usize) {
        self.to_lose.store(answers, Ordering::SeqCst);
    }

    pub(crate) fn left_to_lose(&self) -> usize {
        self.to_lose.load(Ordering::SeqCst)
    }
}

/// Both ways, until one of them ends.
async fn pass(client: TcpStream, server: TcpStream, to_lose: Arc<AtomicUsize>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = copy(from_client, to_server, None) => {}
        () = copy(from_server, to_client, Some(&to_lose)) => {}
    }
}

async fn copy(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    to_lose: Option<&AtomicUsize>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let take_one = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if to_lose.is_some_and(|left| left.fetch_update(order, order, take_one).is_ok()) {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
