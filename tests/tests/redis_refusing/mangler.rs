//! A network that does to answers what none should: says them twice, or half.

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

/// What becomes of an answer now and then.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mangle {
    /// The one before it is said once more, to those who have asked something else since.
    Double,
    /// Only its beginning is said, and then the connection ends.
    Cut,
    /// Only its beginning is said, and then the one before it once more.
    Mix,
}

/// A proxy that mangles one answer in so many.
pub(crate) struct Mangler {
    pub(crate) port: u16,
    mangled: Arc<AtomicUsize>,
}

impl Mangler {
    pub(crate) async fn start(target: u16, how: Mangle, one_in: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mangled = Arc::new(AtomicUsize::new(0));
        let counted = mangled.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let counted = counted.clone();
                tokio::spawn(async move {
                    let server = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                    let (mut asks, hears) = client.into_split();
                    let (says, mut asked) = server.into_split();
                    let questions = async {
                        let _ = copy(&mut asks, &mut asked).await;
                    };
                    tokio::select! {
                        () = questions => {}
                        () = answers(says, hears, how, one_in, &counted) => {}
                    }
                });
            }
        });
        Self { port, mangled }
    }

    /// How often it did it.
    pub(crate) fn mangled(&self) -> usize {
        self.mangled.load(Relaxed)
    }
}

/// How many answers pass before the first is mangled: who logs in is let in.
const POLITE: usize = 2;

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    how: Mangle,
    one_in: u32,
    counted: &AtomicUsize,
) {
    let (mut heard, mut before, mut count) = (Vec::new(), Vec::new(), 0);
    loop {
        while let Some(length) = length(&heard) {
            let answer: Vec<u8> = heard.drain(..length).collect();
            count += 1;
            let mangles = count > POLITE && rand::random_ratio(1, one_in);
            counted.fetch_add(usize::from(mangles), Relaxed);
            let beginning = || answer[..rand::random_range(0..answer.len())].to_vec();
            let said = match how {
                _ if !mangles => answer.clone(),
                Mangle::Double => [&before[..], &answer].concat(),
                Mangle::Cut => beginning(),
                Mangle::Mix => [beginning(), std::mem::take(&mut before)].concat(),
            };
            if to.write_all(&said).await.is_err() || mangles && matches!(how, Mangle::Cut) {
                return;
            }
            before = answer;
        }
        match from.read_buf(&mut heard).await {
            Ok(1..) => {}
            _ => return,
        }
    }
}

/// Of the answer that these bytes begin with, if it is whole: RESP3, its kinds with parts and those
/// without.
fn length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|end| end == b"\r\n")? + 2;
    let number = || {
        let digits = std::str::from_utf8(&bytes[1..line - 2]).ok()?;
        usize::try_from(digits.parse::<i64>().ok()?).ok()
    };
    let parts = match bytes[0] {
        // Nothing comes as a length below zero.
        b'$' | b'=' | b'!' => {
            return number().map_or(Some(line), |length| {
                let whole = line + length + 2;
                (whole <= bytes.len()).then_some(whole)
            });
        }
        b'*' | b'~' | b'>' => number().unwrap_or(0),
        b'%' => 2 * number()?,
        _ => 0,
    };
    (0..parts).try_fold(line, |at, _| Some(at + length(&bytes[at..])?))
}

#[test]
fn an_answer_is_as_long_as_its_parts() {
    for answer in [
        "+OK\r\n",
        ":12\r\n",
        "$-1\r\n",
        "$3\r\nabc\r\n",
        "*3\r\n$1\r\n7\r\n:1\r\n:1700\r\n",
        ">3\r\n$7\r\nmessage\r\n+a\r\n$0\r\n\r\n",
        "%1\r\n+a\r\n*2\r\n_\r\n#t\r\n",
    ] {
        let two = answer.repeat(2);
        assert_eq!(length(two.as_bytes()), Some(answer.len()), "{answer:?}");
        for less in 0..answer.len() {
            assert_eq!(length(&answer.as_bytes()[..less]), None, "{answer:?}");
        }
    }
}
