//! A stream that is encrypted or not.

use crate::sqlserver::{Encryption, Server, tls::Wrapped, wire::prelogin::Wish};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

#[derive(Debug)]
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<Wrapped>>),
}

impl Transport {
    /// Looks at the first byte: TLS at once, or the first message. The bool tells which.
    pub(super) async fn open(server: &Server, stream: TcpStream) -> io::Result<(Self, bool)> {
        let mut first = [0];
        stream.peek(&mut first).await?;
        let strict = first[0] == HANDSHAKE;
        match (&server.tls, strict) {
            (Some(tls), true) => {
                let accepted = tls.strict.accept(Wrapped::new(stream, false)).await?;
                Ok((Self::Tls(Box::new(accepted)), true))
            }
            (_, false) if server.settings.encryption != Encryption::Strict => {
                Ok((Self::Plain(stream), false))
            }
            _ => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    /// After the first message: TLS, unless both sides can do without.
    pub(super) async fn negotiated(self, server: &Server, answer: Wish) -> io::Result<Self> {
        let (Self::Plain(stream), Some(tls)) = (self, &server.tls) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        if answer == Wish::NotSupported {
            return Ok(Self::Plain(stream));
        }
        let mut accepted = tls.negotiated.accept(Wrapped::new(stream, true)).await?;
        accepted.get_mut().0.unwrap_from_now();
        Ok(Self::Tls(Box::new(accepted)))
    }

    /// After a login that alone was to be encrypted.
    pub(super) fn into_plain(self) -> Self {
        match self {
            Self::Plain(stream) => Self::Plain(stream),
            Self::Tls(tls) => Self::Plain(tls.into_inner().0.into_inner()),
        }
    }

    pub(super) const fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
