//! The socket under a connection, which can be watched while nothing is asked.
//!
//! The driver reads only when it has asked for something. A server that ends a session closes the
//! socket at once: whoever watches it hears of the loss then, and not at the next ping.
//!
//! And of something that is no SQL Server the driver would wait for the rest of what it takes for a
//! packet. So the first byte is looked at.

use futures_util::io::{AsyncRead, AsyncWrite};
use socket2::{SockRef, TcpKeepalive};
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::net::TcpStream;

/// Unless something comes, the other side is asked for a sign of life after so long,
const IDLE: Duration = Duration::from_secs(5);
/// and then so often,
const INTERVAL: Duration = Duration::from_secs(2);
/// and so many times. For a session that waits at the server nothing else shows that the network is
/// cut.
#[cfg(unix)]
const TIMES: u32 = 3;

/// How an answer of SQL Server begins; of TLS, an alert or a handshake.
const BEGINNINGS: [u8; 3] = [0x04, 0x15, 0x16];

/// What is said of one that begins otherwise.
pub(crate) const STRANGER: &str = "this is not how SQL Server begins";

/// One side for the driver, the other to watch it.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    stream: Arc<TcpStream>,
    /// Whether anything was read.
    has_begun: Arc<AtomicBool>,
}

impl Wire {
    /// Connects to `address`, a name or a number with a port.
    pub(crate) async fn to(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let probes = TcpKeepalive::new().with_time(IDLE).with_interval(INTERVAL);
        #[cfg(unix)]
        let probes = probes.with_retries(TIMES);
        SockRef::from(&stream).set_tcp_keepalive(&probes)?;
        Ok(Self {
            stream: Arc::new(stream),
            has_begun: Arc::default(),
        })
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.try_read(buffer)?;
        let first = buffer[..length].first();
        let is_strange = first.is_some_and(|first| !BEGINNINGS.contains(first));
        if !self.has_begun.swap(true, Ordering::Relaxed) && is_strange {
            return Err(io::Error::new(io::ErrorKind::InvalidData, STRANGER));
        }
        Ok(length)
    }

    /// Returns when the other side closes the connection while nothing is asked. It does not speak
    /// unasked but to say that this is the end: by an error of the server, or an alert of TLS.
    pub(crate) async fn closed(&self) {
        let _ = self.stream.peek(&mut [0]).await;
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.stream).shutdown(std::net::Shutdown::Write))
    }
}
