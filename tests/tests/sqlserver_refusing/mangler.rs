//! A network that does to answers what none should, between us and a server without encryption.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// What becomes of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mangle {
    /// Only its beginning is said, and then the connection ends.
    Cut,
    /// Only its beginning is said, and then nothing for ever.
    Stall,
    /// As many bytes as it has, of any kind.
    Noise,
    /// The packet is right, and what is in it is of any kind.
    Inside,
    /// It says that it is longer than a packet can be, or shorter.
    Length,
}

pub(crate) const ALL: [Mangle; 5] = [
    Mangle::Cut,
    Mangle::Stall,
    Mangle::Noise,
    Mangle::Inside,
    Mangle::Length,
];

/// A proxy that mangles one answer when it is told to.
pub(crate) struct Mangler {
    pub(crate) port: u16,
    /// How many answers come before the one that is mangled, and that one.
    left: Arc<AtomicUsize>,
    mangled: Arc<AtomicUsize>,
}

impl Mangler {
    pub(crate) async fn start(target: u16, how: Mangle) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let left = Arc::new(AtomicUsize::new(0));
        let mangled = Arc::new(AtomicUsize::new(0));
        let counters = (left.clone(), mangled.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (left, mangled) = counters.clone();
                tokio::spawn(async move {
                    let server = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                    let (mut asks, hears) = client.into_split();
                    let (says, mut asked) = server.into_split();
                    let questions = async {
                        let _ = copy(&mut asks, &mut asked).await;
                    };
                    tokio::select! {
                        () = questions => {}
                        () = answers(says, hears, how, &left, &mangled) => {}
                    }
                });
            }
        });
        Self {
            port,
            left,
            mangled,
        }
    }

    /// From now on the answer with this number, the first being 1, is mangled.
    pub(crate) fn arm(&self, number: usize) {
        self.left.store(number, Relaxed);
    }

    /// How often it did it.
    pub(crate) fn mangled(&self) -> usize {
        self.mangled.load(Relaxed)
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    how: Mangle,
    left: &AtomicUsize,
    count: &AtomicUsize,
) {
    let mut heard = Vec::new();
    loop {
        while let Some(length) = length(&heard) {
            let answer: Vec<u8> = heard.drain(..length).collect();
            let less = |left: usize| left.checked_sub(1);
            let mangles = left.fetch_update(Relaxed, Relaxed, less) == Ok(1);
            count.fetch_add(usize::from(mangles), Relaxed);
            let said = if mangles {
                mangled(&answer, how)
            } else {
                answer
            };
            if to.write_all(&said).await.is_err() {
                return;
            }
            match how {
                Mangle::Cut if mangles => return,
                Mangle::Stall if mangles => std::future::pending().await,
                _ => {}
            }
        }
        match from.read_buf(&mut heard).await {
            Ok(1..) => {}
            _ => return,
        }
    }
}

fn mangled(answer: &[u8], how: Mangle) -> Vec<u8> {
    let noise = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = rand::random());
    let mut answer = answer.to_vec();
    match how {
        Mangle::Cut | Mangle::Stall => answer.truncate(rand::random_range(0..answer.len())),
        Mangle::Noise => noise(&mut answer),
        Mangle::Inside => noise(&mut answer[HEADER..]),
        Mangle::Length => answer[2..4].copy_from_slice(&rand::random::<[u8; 2]>()),
    }
    answer
}

/// Kind, whether it is the last of a message, and its length in two bytes; then what is not looked at.
const HEADER: usize = 8;

/// Of the message that these bytes begin with, if it is whole.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let header = bytes.get(at..at + HEADER)?;
        at += usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[1] & 1 != 0 {
            return (at <= bytes.len()).then_some(at);
        }
    }
}

#[test]
fn a_message_is_as_long_as_its_packets() {
    let packet = |last: u8, inside: &[u8]| {
        let length = u8::try_from(HEADER + inside.len()).unwrap();
        [&[4, last, 0, length, 0, 0, 0, 0], inside].concat()
    };
    let message = [packet(0, b"abc"), packet(1, b"de")].concat();
    let two = message.repeat(2);
    assert_eq!(length(&two), Some(message.len()));
    for less in 0..message.len() {
        assert_eq!(length(&message[..less]), None);
    }
}
