//! Packets: eight bytes of header and a part of a message.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long a header is.
pub(crate) const HEADER: usize = 8;
/// The size of packets before a login asks for another.
pub(crate) const DEFAULT_SIZE: usize = 4096;
/// More than anything a client has reason to send.
const LONGEST_MESSAGE: usize = 16 << 20;

pub(crate) const SQL_BATCH: u8 = 1;
pub(crate) const RPC: u8 = 3;
pub(crate) const RESULT: u8 = 4;
pub(crate) const ATTENTION: u8 = 6;
pub(crate) const TRANSACTION: u8 = 14;
pub(crate) const LOGIN: u8 = 16;
pub(crate) const PRELOGIN: u8 = 18;

const END_OF_MESSAGE: u8 = 1;
const IGNORE: u8 = 2;
const RESET: u8 = 8;
const RESET_KEEPING_TRANSACTION: u8 = 16;

/// All packets of a message put together.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) reset: bool,
    pub(crate) keeps_transaction: bool,
    /// Its client took it back before its end.
    pub(crate) taken_back: bool,
    pub(crate) body: Vec<u8>,
}

/// Puts messages together. Its futures may be dropped: nothing that was read is lost.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    io: R,
    buffer: Vec<u8>,
    partial: Option<Message>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(crate) const fn new(io: R) -> Self {
        Self {
            io,
            buffer: Vec::new(),
            partial: None,
        }
    }

    /// The next message; an error when the connection ends or sends what is none.
    pub(crate) async fn message(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.buffered()? {
                return Ok(message);
            }
            if self.io.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The stream it reads from; an error if more was sent than it gave out.
    pub(crate) fn into_inner(self) -> io::Result<R> {
        match self.buffer.is_empty() && self.partial.is_none() {
            true => Ok(self.io),
            false => Err(malformed()),
        }
    }

    pub(crate) const fn get_mut(&mut self) -> &mut R {
        &mut self.io
    }

    fn buffered(&mut self) -> io::Result<Option<Message>> {
        while let Some((header, length)) = header(&self.buffer)? {
            if self.buffer.len() < length {
                break;
            }
            let body = self.buffer.drain(..length).skip(HEADER).collect();
            if let Some(message) = self.add(header, body)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn add(
        &mut self,
        [kind, status, ..]: [u8; HEADER],
        body: Vec<u8>,
    ) -> io::Result<Option<Message>> {
        let mut message = match self.partial.take() {
            Some(mut message) if message.kind == kind => {
                message.body.extend(body);
                message
            }
            Some(_) => return Err(malformed()),
            None => Message {
                kind,
                reset: status & (RESET | RESET_KEEPING_TRANSACTION) != 0,
                keeps_transaction: status & RESET_KEEPING_TRANSACTION != 0,
                taken_back: false,
                body,
            },
        };
        if message.body.len() > LONGEST_MESSAGE {
            return Err(malformed());
        }
        if status & END_OF_MESSAGE == 0 {
            self.partial = Some(message);
            return Ok(None);
        }
        message.taken_back = status & IGNORE != 0;
        Ok(Some(message))
    }
}

fn header(buffer: &[u8]) -> io::Result<Option<([u8; HEADER], usize)>> {
    let Some(header) = buffer.first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let known = [SQL_BATCH, RPC, ATTENTION, TRANSACTION, LOGIN, PRELOGIN].contains(&header[0]);
    if !known || length < HEADER {
        return Err(malformed());
    }
    Ok(Some((*header, length)))
}

pub(crate) fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a packet of this protocol")
}

/// Sends a message of the server in packets of `size`.
pub(crate) async fn send<W: AsyncWrite + Unpin>(
    io: &mut W,
    body: &[u8],
    size: usize,
    session: u16,
) -> io::Result<()> {
    let mut packets = Vec::with_capacity(body.len() + HEADER);
    let parts = body.chunks(size - HEADER);
    let last = parts.len().saturating_sub(1);
    for (number, part) in parts.enumerate() {
        let length = u16::try_from(part.len() + HEADER).map_err(|_| malformed())?;
        packets.extend([RESULT, u8::from(number == last) * END_OF_MESSAGE]);
        packets.extend(length.to_be_bytes());
        packets.extend(session.to_be_bytes());
        packets.extend([(number % 256 + 1) as u8, 0]);
        packets.extend(part);
    }
    io.write_all(&packets).await?;
    io.flush().await
}
