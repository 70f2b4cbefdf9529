//! TLS: the server's certificate, and a handshake that comes in packets.

use super::{Encryption, Settings, wire::packet};
use rcgen::{CertificateParams, KeyPair};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        version::{TLS12, TLS13},
    },
};

/// Both kinds of TLS a server has.
pub(crate) struct Tls {
    /// After the first messages, as in TDS 7: which goes no further than version 1.2.
    pub(crate) negotiated: TlsAcceptor,
    /// Before them, as in TDS 8.
    pub(crate) strict: TlsAcceptor,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// That of a server with these settings, which makes a certificate if it is given none.
    pub(crate) fn new(settings: &Settings) -> Option<Self> {
        if settings.encryption == Encryption::NotSupported {
            return None;
        }
        let (chain, key) = match &settings.identity {
            Some(identity) => {
                let chain = CertificateDer::pem_file_iter(&identity.certificate);
                let chain = chain.and_then(Iterator::collect::<Result<Vec<_>, _>>);
                let key = PrivateKeyDer::from_pem_file(&identity.key);
                (chain.expect("a certificate"), key.expect("a key"))
            }
            None => own_identity(),
        };
        let acceptor = |versions: &[&'static SupportedProtocolVersion], protocols: &[&[u8]]| {
            let provider = Arc::new(ring::default_provider());
            let config = ServerConfig::builder_with_provider(provider)
                .with_protocol_versions(versions)
                .expect("versions that the provider has")
                .with_no_client_auth()
                .with_single_cert(chain.clone(), key.clone_key());
            let mut config = config.expect("a key of the certificate");
            config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
            TlsAcceptor::from(Arc::new(config))
        };
        Some(Self {
            negotiated: acceptor(&[&TLS12], &[]),
            strict: acceptor(&[&TLS13, &TLS12], &[b"tds/8.0"]),
        })
    }
}

/// A certificate that nobody signed but its key.
fn own_identity() -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["SSL_Self_Signed_Fallback".to_owned()]);
    let certificate = params
        .and_then(|it| it.self_signed(&key))
        .expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key that was just made");
    (vec![certificate.der().clone()], key)
}

/// A socket on which a handshake goes in packets of the first message, until it is over.
#[derive(Debug)]
pub(crate) struct Wrapped {
    stream: TcpStream,
    wraps: bool,
    header: Vec<u8>,
    /// What is left of the packet that is being read.
    left: usize,
    /// What has not been written yet.
    pending: Vec<u8>,
}

impl Wrapped {
    pub(crate) const fn new(stream: TcpStream, wraps: bool) -> Self {
        Self {
            stream,
            wraps,
            header: Vec::new(),
            left: 0,
            pending: Vec::new(),
        }
    }

    /// From here on, what is said goes as it is.
    pub(crate) const fn unwrap_from_now(&mut self) {
        self.wraps = false;
    }

    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn poll_header(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        while self.header.len() < packet::HEADER {
            let mut bytes = [0; packet::HEADER];
            let mut buffer = ReadBuf::new(&mut bytes[self.header.len()..]);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(false));
            }
            self.header.extend(buffer.filled());
        }
        let length = usize::from(u16::from_be_bytes([self.header[2], self.header[3]]));
        let length = length.checked_sub(packet::HEADER);
        let is_it = self.header[0] == packet::PRELOGIN;
        self.header.clear();
        self.left = length.filter(|_| is_it).ok_or_else(packet::malformed)?;
        Poll::Ready(Ok(true))
    }

    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.pending))?;
            self.pending.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Wrapped {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.wraps {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        while this.left == 0 {
            if !ready!(this.poll_header(cx))? {
                return Poll::Ready(Ok(()));
            }
        }
        let mut bytes = [0; packet::DEFAULT_SIZE];
        let most = this.left.min(buffer.remaining()).min(bytes.len());
        let mut part = ReadBuf::new(&mut bytes[..most]);
        ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
        buffer.put_slice(part.filled());
        this.left -= part.filled().len();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wrapped {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        if !this.wraps {
            return Pin::new(&mut this.stream).poll_write(cx, bytes);
        }
        let taken = &bytes[..bytes.len().min(packet::DEFAULT_SIZE - packet::HEADER)];
        let length = (taken.len() + packet::HEADER) as u16;
        this.pending.extend([packet::PRELOGIN, 1]);
        this.pending.extend(length.to_be_bytes());
        this.pending.extend([0; 4]);
        this.pending.extend(taken);
        // What cannot be written now is, before anything else is.
        if let Poll::Ready(Err(error)) = this.poll_pending(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }
}
