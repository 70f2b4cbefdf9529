//! A network between client and server that does as a test tells it: late, silent, deaf in one
//! direction, or broken at once. It also counts what passes, so that a test can say how many
//! statements something took.

mod count;
mod cut;
mod pump;
mod tds;
mod untold;
mod weather;

pub use count::Counts;
pub use cut::Cut;

use count::Meter;
use pump::Pump;
use std::{
    io,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use weather::{Weather, Wind};

/// A TCP proxy on 127.0.0.1. Dropped, it resets all its connections and listens no more.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    target: Arc<AtomicU16>,
    weather: Arc<Weather>,
    meter: Arc<Meter>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a port of its own and passes everything on to `target` on 127.0.0.1, on the
    /// runtime of the caller.
    ///
    /// # Errors
    /// If no port can be had.
    pub async fn start(target: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (weather, meter) = (Arc::new(Weather::new()), Arc::new(Meter::default()));
        let (sky, counter) = (weather.clone(), meter.clone());
        let target = Arc::new(AtomicU16::new(target));
        let listening = tokio::spawn(listen(listener, target.clone(), sky, counter));
        Ok(Self {
            port,
            target,
            weather,
            meter,
            listening,
        })
    }

    /// Where clients connect.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on new connections lead to `target`, as when an address moves to another server.
    pub fn redirect(&self, target: u16) {
        self.target.store(target, Ordering::SeqCst);
    }

    /// From now on, whatever passes takes this much longer, each way.
    pub fn delay(&self, delay: Duration) {
        self.weather.change(|wind| wind.delay = delay);
    }

    /// From now on nothing passes, either way, and nobody is told: connections stay open, and new
    /// ones are accepted. What is sent meanwhile waits for [`Proxy::heal`], as TCP would send it
    /// again.
    pub fn blackhole(&self) {
        self.weather.change(|wind| wind.silent = true);
    }

    /// From now on what the client sends arrives, and what the server answers is thrown away.
    /// A connection that lost an answer never gets well: what follows would make no sense.
    pub fn drop_replies(&self) {
        self.weather.change(|wind| wind.deaf = true);
    }

    /// The next `count` answers are lost, each with its connection, which is reset.
    pub fn lose_replies(&self, count: usize) {
        self.weather.to_lose.store(count, Ordering::SeqCst);
    }

    /// How many of those were not given yet.
    #[must_use]
    pub fn left_to_lose(&self) -> usize {
        self.weather.to_lose.load(Ordering::SeqCst)
    }

    /// The next statements of PostgreSQL clients that have `text` in theirs are cut off like this, one after the other,
    /// each with its connection. To be said before anybody connects; needs connections in plain text.
    pub fn cut(&self, text: &str, cuts: impl IntoIterator<Item = Cut>) {
        self.weather.cuts.want(text, cuts);
    }

    /// How many of those were cut off so far.
    #[must_use]
    pub fn cuts_made(&self) -> usize {
        self.weather.cuts.made()
    }

    /// From now on no notification of a PostgreSQL server passes. To be said before anybody connects.
    pub fn drop_notifications(&self) {
        self.weather.change(|wind| wind.untold = true);
    }

    /// Everything passes again, without delay, but on connections that lost something.
    pub fn heal(&self) {
        self.weather.change(|wind| {
            *wind = Wind {
                storms: wind.storms,
                ..Wind::default()
            };
        });
    }

    /// Resets all connections there are, on both sides. New ones are welcome.
    pub fn reset(&self) {
        self.weather.change(|wind| wind.storms += 1);
    }

    /// What has passed so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.meter.read()
    }

    /// How many statements clients have sent that reached the server: `Execute` and `Query`
    /// messages of PostgreSQL's protocol. Needs connections in plain text.
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.counts().statements
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        self.weather.change(|wind| wind.over = true);
    }
}

async fn listen(
    listener: TcpListener,
    target: Arc<AtomicU16>,
    weather: Arc<Weather>,
    meter: Arc<Meter>,
) {
    // The end of this future drops the listener; the connections end by the weather.
    while let Ok((client, _)) = listener.accept().await {
        let (weather, meter) = (weather.clone(), meter.clone());
        let target = target.load(Ordering::SeqCst);
        tokio::spawn(async move {
            let _open = meter.connected();
            let pump = Pump::new(weather, meter.clone());
            pump.run(client, connect(target)).await;
        });
    }
}

async fn connect(target: u16) -> io::Result<TcpStream> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await
}
