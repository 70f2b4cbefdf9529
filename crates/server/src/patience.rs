//! A connection whose other end must read: whoever takes nothing of what it is sent for too long is cut off, so that
//! nobody's answer is kept for ever.

use crate::seats::Seat;
use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A stream, and how long its other end may take nothing.
pub(crate) struct Patience<S> {
    stream: S,
    seat: Arc<Seat>,
    limit: Duration,
    /// While the other end takes nothing: when that has been too long.
    late: Option<Pin<Box<Sleep>>>,
}

impl<S> Patience<S> {
    pub(crate) const fn new(stream: S, seat: Arc<Seat>, limit: Duration) -> Self {
        Self {
            stream,
            seat,
            limit,
            late: None,
        }
    }

    /// What was written, unless nothing was for too long.
    fn within<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.late = None;
            return written;
        }
        let limit = self.limit;
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(late.as_mut().poll(cx));
        let message = "the other end takes nothing of what it is sent";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        // `hyper` flushes when it has written all that it has.
        if flushed.is_ready() {
            self.seat.sent();
        }
        self.within(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let down = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within(cx, down)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::timeout,
    };

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn who_takes_nothing_is_cut_off() {
        let (_other, here) = duplex(16);
        let limit = Duration::from_millis(50);
        let mut here = Patience::new(here, Arc::default(), limit);
        let written = timeout(LIMIT, here.write_all(&[0; 64])).await;
        let error = written.expect("not within a minute").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn who_takes_all_is_sent_all() {
        let (mut other, here) = duplex(16);
        let mut here = Patience::new(here, Arc::default(), Duration::from_secs(60));
        let writing = tokio::spawn(async move { here.write_all(&[7; 1 << 16]).await });
        let mut all = Vec::new();
        let read = timeout(LIMIT, other.read_to_end(&mut all)).await;
        read.expect("not within a minute").unwrap();
        writing.await.unwrap().unwrap();
        assert_eq!(all.len(), 1 << 16);
    }
}
