//! One connection, from when it stands until it breaks.

use super::{Answer, Call, Failure, PATIENCE, unavailable};
use crate::standin::protocol::{FromServer, Request};
use lockwork::{Instant, backend::Hints};
use std::collections::BTreeMap;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

/// One connection, while it stands.
pub(super) struct Line {
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
    hints: Hints,
    /// What is still to be written.
    outgoing: Vec<u8>,
    /// What is not yet answered, and until when to wait for it.
    pending: BTreeMap<u64, (Instant, Answer)>,
    last_number: u64,
}

/// Why a connection ended.
pub(super) enum End {
    /// Nobody can ask any more.
    Over,
    Broken,
}

impl End {
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }
}

impl Line {
    pub(super) fn new(stream: TcpStream, hints: Hints) -> Self {
        let (read, write) = stream.into_split();
        Self {
            lines: BufReader::new(read).lines(),
            write,
            hints,
            outgoing: Request::Subscribe.line(0).into_bytes(),
            pending: BTreeMap::new(),
            last_number: 0,
        }
    }

    pub(super) async fn serve(
        &mut self,
        first: Option<Call>,
        calls: &mut mpsc::UnboundedReceiver<Call>,
    ) -> End {
        first.into_iter().for_each(|call| self.enqueue(call));
        loop {
            let patience = self.pending.first_key_value();
            let patience = patience.map_or(PATIENCE, |(_, (until, _))| until.remaining());
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.enqueue(call),
                    None => return End::Over,
                },
                line = self.lines.next_line() => match line {
                    Ok(Some(line)) => self.heard(&line),
                    Ok(None) | Err(_) => return End::Broken,
                },
                written = self.write.write(&self.outgoing), if !self.outgoing.is_empty() => {
                    match written {
                        Ok(count) => drop(self.outgoing.drain(..count)),
                        Err(_) => return End::Broken,
                    }
                }
                () = tokio::time::sleep(patience), if !self.pending.is_empty() => {
                    return End::Broken;
                }
            }
        }
    }

    fn enqueue(&mut self, call: Call) {
        self.last_number += 1;
        let line = call.request.line(self.last_number);
        self.outgoing.extend_from_slice(line.as_bytes());
        let until = Instant::now() + PATIENCE;
        self.pending.insert(self.last_number, (until, call.reply));
    }

    fn heard(&mut self, line: &str) {
        match FromServer::read(line) {
            Some(FromServer::Freed(id)) => {
                self.hints.hint(&id);
            }
            Some(FromServer::Reply(number, reply)) => {
                if let Some((_, answer)) = self.pending.remove(&number) {
                    let _ = answer.send(Ok(reply));
                }
            }
            None => {}
        }
    }

    pub(super) fn fail_all(self) {
        for (_, answer) in self.pending.into_values() {
            let error = unavailable("the connection broke before the answer came");
            let _ = answer.send(Err(Failure::ReplyLost(error)));
        }
    }
}
