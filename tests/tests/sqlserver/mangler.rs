//! A server that says something else: a proxy that changes what it answers, once, in plain text.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
};

/// A number as it stands in a row of an answer, between its own length and that of the `bigint`
/// behind it.
fn in_a_row(number: i32) -> [u8; 6] {
    let [a, b, c, d] = number.to_le_bytes();
    [4, a, b, c, d, 8]
}

pub(crate) struct Mangler {
    pub(crate) port: u16,
    left: Arc<AtomicUsize>,
}

impl Mangler {
    /// In front of `target`, it makes `from` into `to` where that is a code with a token behind it,
    /// as often as it is told.
    pub(crate) async fn start(target: u16, from: i32, to: i32) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let left = Arc::new(AtomicUsize::new(0));
        let times = left.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await;
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.unwrap().into_split();
                tokio::spawn(pass(from_client, to_server, None));
                let change = (in_a_row(from), in_a_row(to), times.clone());
                tokio::spawn(pass(from_server, to_client, Some(change)));
            }
        });
        Self { port, left }
    }

    /// The next answers with the number are changed.
    pub(crate) fn change(&self, times: usize) {
        self.left.store(times, Ordering::SeqCst);
    }

    /// How many are still to be changed.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }
}

type Change = ([u8; 6], [u8; 6], Arc<AtomicUsize>);

/// Answers are short: none is cut in two on this machine.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, change: Option<Change>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        if let Some((old, new, times)) = &change {
            mangle(&mut bytes[..length], old, new, times);
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

fn mangle(bytes: &mut [u8], old: &[u8; 6], new: &[u8; 6], times: &AtomicUsize) {
    let Some(at) = bytes.windows(6).position(|window| window == old) else {
        return;
    };
    let one_less = |left: usize| left.checked_sub(1);
    let order = Ordering::SeqCst;
    if times.fetch_update(order, order, one_less).is_ok() {
        bytes[at..at + 6].copy_from_slice(new);
    }
}
