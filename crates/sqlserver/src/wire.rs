//! The socket under a connection, which can be watched while nothing is asked.
//!
//! The driver reads only when it has asked for something. A server that ends a session closes the
//! socket at once: whoever watches it hears of the loss then, and not at the next ping.

use futures_util::io::{AsyncRead, AsyncWrite};
use socket2::{SockRef, TcpKeepalive};
use std::{
    io,
    pin::Pin,
    sync::Arc,
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

/// One side for the driver, the other to watch it.
#[derive(Clone, Debug)]
pub(crate) struct Wire(Arc<TcpStream>);

impl Wire {
    /// Connects to `address`, a name or a number with a port.
    pub(crate) async fn to(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let probes = TcpKeepalive::new().with_time(IDLE).with_interval(INTERVAL);
        #[cfg(unix)]
        let probes = probes.with_retries(TIMES);
        SockRef::from(&stream).set_tcp_keepalive(&probes)?;
        Ok(Self(Arc::new(stream)))
    }

    /// Returns when the other side closes the connection while nothing is asked. It does not speak
    /// unasked but to say that this is the end: by an error of the server, or an alert of TLS.
    pub(crate) async fn closed(&self) {
        let _ = self.0.peek(&mut [0]).await;
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buffer) {
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
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.0).shutdown(std::net::Shutdown::Write))
    }
}
