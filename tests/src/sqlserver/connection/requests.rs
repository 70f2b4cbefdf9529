//! Requests of a connection, one at a time, and what may interrupt one.

use super::login::Opened;
use crate::sqlserver::{
    Flavor, Server,
    session::{Outcome, Session},
    sql::{Message, time},
    wire::{
        packet::{self, Reader, send},
        request,
        tokens::{self, Done},
    },
};
use std::{
    collections::VecDeque,
    io,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::Notify,
};

/// How many requests may wait for one that runs.
const MOST_QUEUED: usize = 16;

/// How a request ended.
enum End {
    Answered(Outcome),
    /// The client asked for its end.
    Attention,
    /// The connection is gone, or sends what it must not.
    Gone,
    Killed,
}

pub(super) async fn serve(server: Arc<Server>, opened: Opened) {
    let Opened {
        transport,
        session,
        packet_size,
        kill,
    } = opened;
    let (reader, writer) = tokio::io::split(transport);
    let mut connection = Connection {
        reader: Reader::new(reader),
        queue: VecDeque::new(),
        writer,
        session,
        packet_size,
        kill,
        patient: server.settings.flavor == Flavor::Babelfish,
    };
    // However it ends, the session and what it holds end with it.
    let _ = connection.serve().await;
    connection.session.leave();
    let _ = connection.writer.shutdown().await;
}

struct Connection<R, W> {
    reader: Reader<R>,
    /// Requests that came before another was done.
    queue: VecDeque<packet::Message>,
    writer: W,
    session: Session,
    packet_size: usize,
    kill: Arc<Notify>,
    /// Attention is not heard before a wait is over.
    patient: bool,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Connection<R, W> {
    async fn serve(&mut self) -> io::Result<()> {
        loop {
            let message = match self.queue.pop_front() {
                Some(message) => message,
                None => tokio::select! {
                    message = self.reader.message() => message?,
                    () = self.kill.notified() => return Ok(()),
                },
            };
            if message.kind == packet::ATTENTION {
                // The answer it was about has been sent whole: this is one of its own.
                self.session.out.done(Done::Batch, tokens::ATTENTION, 0, 0);
                self.answer().await?;
                continue;
            }
            if message.taken_back {
                self.session.out.done(Done::Batch, tokens::ERROR, 0, 0);
                self.answer().await?;
                continue;
            }
            if message.reset {
                self.session.reset(message.keeps_transaction);
            }
            self.session.begin_request();
            let end = self.request(&message).await?;
            self.session.end_request();
            match end {
                End::Answered(Outcome::Stays) => self.answer().await?,
                End::Answered(Outcome::Cancelled) | End::Attention => {
                    self.session.interrupted();
                    self.session.out.done(Done::Batch, tokens::ATTENTION, 0, 0);
                    self.answer().await?;
                }
                End::Answered(Outcome::Closes) => return self.answer().await,
                End::Gone => return Ok(()),
                End::Killed => {
                    let text = "Cannot continue the execution because the session is in the kill \
                                state.";
                    self.session.say(&Message::new(596, 21, 1, text).at(1));
                    self.session.out.done(Done::Batch, tokens::ERROR, 0, 0);
                    // Whoever waits for what it held does not wait for this to be read.
                    self.session.leave();
                    return self.answer().await;
                }
            }
        }
    }

    async fn answer(&mut self) -> io::Result<()> {
        let body = std::mem::take(&mut self.session.out).into_bytes();
        let id = self.session.id.cast_unsigned();
        send(&mut self.writer, &body, self.packet_size, id).await
    }

    async fn request(&mut self, message: &packet::Message) -> io::Result<End> {
        let interrupts = Interrupts {
            reader: &mut self.reader,
            queue: &mut self.queue,
            kill: &self.kill,
            patient: self.patient,
            cancelled: self.session.cancelled.clone(),
        };
        let body = &message.body;
        let malformed = |_| packet::malformed();
        let session = &mut self.session;
        match message.kind {
            packet::SQL_BATCH => {
                let text = request::batch(body).map_err(malformed)?;
                Ok(interrupts.watch(session.batch(&text)).await)
            }
            packet::RPC => {
                let calls = request::calls(body).map_err(malformed)?;
                Ok(interrupts.watch(session.calls(calls)).await)
            }
            packet::TRANSACTION => {
                let request = request::transaction(body).map_err(malformed)?;
                Ok(End::Answered(session.transact(&request)))
            }
            _ => Err(packet::malformed()),
        }
    }
}

/// What may end a request before its end.
struct Interrupts<'a, R> {
    reader: &'a mut Reader<R>,
    queue: &'a mut VecDeque<packet::Message>,
    kill: &'a Notify,
    patient: bool,
    cancelled: Arc<std::sync::atomic::AtomicBool>,
}

impl<R: AsyncRead + Unpin> Interrupts<'_, R> {
    async fn watch(self, request: impl Future<Output = Outcome>) -> End {
        self.cancelled.store(false, Ordering::Relaxed);
        let mut request = std::pin::pin!(request);
        loop {
            tokio::select! {
                outcome = &mut request => {
                    // Heard too late to stop anything, it is answered all the same.
                    return match self.cancelled.load(Ordering::Relaxed) {
                        true if outcome == Outcome::Stays => End::Answered(Outcome::Cancelled),
                        _ => End::Answered(outcome),
                    };
                }
                message = self.reader.message() => match message {
                    Ok(message) if message.kind == packet::ATTENTION => match self.patient {
                        true => self.cancelled.store(true, Ordering::Relaxed),
                        false => return End::Attention,
                    },
                    Ok(message) if self.queue.len() < MOST_QUEUED => self.queue.push_back(message),
                    _ => return End::Gone,
                },
                () = self.kill.notified() => return End::Killed,
            }
        }
    }
}

impl Session {
    fn begin_request(&self) {
        if let Some(info) = self.server.state().sessions.get_mut(&self.id) {
            info.running = true;
            info.request_start = time::now();
        }
    }

    fn end_request(&self) {
        if let Some(info) = self.server.state().sessions.get_mut(&self.id) {
            info.running = false;
            info.request_end = Some(time::now());
        }
    }

    /// Ends the session: what it holds is free, and where it waits there is room.
    pub(crate) fn leave(&self) {
        let mut state = self.server.state();
        if state.sessions.remove(&self.id).is_some() {
            let id = self.id;
            state.locks.release_all(|owner| owner.session == id);
        }
    }
}
