//! One connection through the proxy: two streams of bytes, each held back, delayed or thrown away
//! as the weather says.

use super::{
    count::{Frames, Meter},
    cut::{Cut, Prepared},
    tds::Packets,
    untold::Messages,
    weather::{Weather, Wind},
};
use std::{
    future::Future,
    io,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::{Notify, mpsc, watch},
    time::{Instant, sleep_until},
};

/// How much is read at once.
const PIECE: usize = 16 * 1024;

/// How many pieces may be on their way; more, and the sender waits, as with TCP.
const PIECES: usize = 1024;

/// What the two ways of a connection tell each other.
struct Lost<'c> {
    told: &'c Notify,
    cut: &'c AtomicBool,
}

impl Lost<'_> {
    /// The connection ends.
    fn tell(&self) {
        self.told.notify_one();
    }

    /// It ends with the next answer.
    fn cut_answer(&self) {
        self.cut.store(true, SeqCst);
    }

    fn is_cut(&self) -> bool {
        self.cut.load(SeqCst)
    }
}

/// Which way bytes go.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Way {
    ToServer,
    ToClient,
}

pub(super) struct Pump {
    weather: Arc<Weather>,
    meter: Arc<Meter>,
}

impl Pump {
    pub(super) fn new(weather: Arc<Weather>, meter: Arc<Meter>) -> Self {
        Self { weather, meter }
    }

    /// Passes bytes between the two until one side ends, or the weather ends both.
    pub(super) async fn run(
        &self,
        mut client: TcpStream,
        server: impl Future<Output = io::Result<TcpStream>>,
    ) {
        let mut wind = self.weather.watch();
        let storms = wind.borrow_and_update().storms;
        let ends = |wind: &Wind| wind.over || wind.storms != storms;
        let mut calmer = self.weather.watch();
        tokio::select! {
            () = calm(&mut calmer) => {}
            _ = wind.wait_for(ends) => return abort(&client),
        }
        // Not given up half way: the server would see a connection that ends in order.
        let Ok(mut server) = server.await else {
            return;
        };
        // Small messages go at once, as they came.
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let lost = Notify::new();
        let both = self.both(&mut client, &mut server, &lost);
        let ended = async {
            tokio::select! {
                _ = wind.wait_for(ends) => {}
                () = lost.notified() => {}
            }
        };
        tokio::select! {
            () = both => {}
            () = ended => {
                abort(&client);
                abort(&server);
            }
        }
    }

    async fn both(&self, client: &mut TcpStream, server: &mut TcpStream, lost: &Notify) {
        // The next answer is for nobody.
        let cut = AtomicBool::new(false);
        let lost = Lost {
            told: lost,
            cut: &cut,
        };
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        // An end on one side is passed on to the other, and is the end of that way only.
        tokio::join!(
            self.way(Way::ToServer, from_client, to_server, &lost),
            self.way(Way::ToClient, from_server, to_client, &lost),
        );
    }

    async fn way(&self, way: Way, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, lost: &Lost<'_>) {
        let (sender, mut underway) = mpsc::channel(PIECES);
        let read = async move {
            loop {
                let mut piece = vec![0; PIECE];
                match from.read(&mut piece).await {
                    Ok(length) if length > 0 => piece.truncate(length),
                    _ => break,
                }
                if sender.send((Instant::now(), piece)).await.is_err() {
                    break;
                }
            }
        };
        let write = async move {
            let mut wind = self.weather.watch();
            let (mut frames, mut packets) = (Frames::default(), Packets::default());
            let (mut messages, mut prepared) = (Messages::default(), Prepared::default());
            // Where something is missing, what comes later would make no sense.
            let mut torn = false;
            while let Some((came, mut piece)) = underway.recv().await {
                torn |= !passes(way, came, &mut wind).await;
                let cut = match way {
                    Way::ToServer => prepared.cut(&piece, &self.weather.cuts),
                    Way::ToClient => None,
                };
                let answer = way == Way::ToClient && (lost.is_cut() || self.weather.loses_one());
                if answer || cut == Some(Cut::Before) {
                    torn = true;
                    lost.tell();
                }
                if cut == Some(Cut::After) {
                    lost.cut_answer();
                }
                if torn {
                    continue;
                }
                if way == Way::ToClient && wind.borrow().untold {
                    piece = messages.without_notifications(&piece);
                }
                self.count(way, &piece, &mut frames, &mut packets);
                if to.write_all(&piece).await.is_err() {
                    return;
                }
                if cut == Some(Cut::During) {
                    torn = true;
                    lost.tell();
                }
            }
            calm(&mut wind).await;
            if !torn {
                // The other side may be gone already.
                let _ = to.shutdown().await;
            }
        };
        tokio::join!(read, write);
    }

    fn count(&self, way: Way, piece: &[u8], frames: &mut Frames, packets: &mut Packets) {
        let bytes = piece.len() as u64;
        match way {
            Way::ToServer => {
                self.meter.sent.fetch_add(bytes, Relaxed);
                let statements = frames.statements(piece);
                self.meter.statements.fetch_add(statements, Relaxed);
                let requests = packets.requests(piece);
                self.meter.tds_requests.fetch_add(requests, Relaxed);
            }
            Way::ToClient => {
                self.meter.received.fetch_add(bytes, Relaxed);
            }
        }
    }
}

/// Waits until a piece may go on; false when it is thrown away.
async fn passes(way: Way, came: Instant, wind: &mut watch::Receiver<Wind>) -> bool {
    let delay = wind.borrow().delay;
    sleep_until(came + delay).await;
    calm(wind).await;
    !(way == Way::ToClient && wind.borrow().deaf)
}

/// Waits for as long as nothing passes.
async fn calm(wind: &mut watch::Receiver<Wind>) {
    // Who changes the weather lives as long as its watchers, so there is no error.
    let _ = wind.wait_for(|wind| !wind.silent).await;
}

/// Closing then resets: what was not sent is thrown away, and the other side is told at once.
fn abort(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}
