//! One connection: reads requests, does what they ask, answers in order.

use super::{
    leases::Try,
    shared::{Outbox, Shared},
};
use crate::standin::protocol::{FromServer, Reply, Request};
use lockwork::Instant;
use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

pub(super) struct Connection {
    shared: Arc<Shared>,
    number: u64,
    client: String,
    out: Outbox,
    /// Whether it has asked for grants that live on it.
    is_session: bool,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, number: u64, from: SocketAddr, out: Outbox) -> Self {
        Self {
            shared,
            number,
            client: from.to_string(),
            out,
            is_session: false,
        }
    }

    /// Until either side ends it. The socket is closed before what lived on it is free.
    pub(super) async fn serve(
        mut self,
        stream: TcpStream,
        replies: mpsc::UnboundedReceiver<(Instant, String)>,
    ) {
        let (read, write) = stream.into_split();
        tokio::select! {
            () = self.answer_all(BufReader::new(read).lines()) => {}
            () = write_all(write, replies) => {}
        }
    }

    async fn answer_all(&mut self, mut lines: Lines<BufReader<OwnedReadHalf>>) {
        loop {
            let timeout = self.shared.session_timeout.filter(|_| self.is_session);
            let next = self.next_line(&mut lines);
            let line = match timeout {
                None => next.await,
                Some(limit) => tokio::time::timeout(limit, next).await.unwrap_or(None),
            };
            if line.is_none_or(|line| !self.answer(&line)) {
                return;
            }
        }
    }

    async fn next_line(&self, lines: &mut Lines<BufReader<OwnedReadHalf>>) -> Option<String> {
        let line = lines.next_line().await.ok()??;
        self.shared.faults.unpaused().await;
        Some(line)
    }

    /// `false` if the connection is to be closed.
    fn answer(&mut self, line: &str) -> bool {
        let Some((number, request)) = Request::read(line) else {
            return false;
        };
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        let expendable = !matches!(request, Request::Subscribe | Request::Ping);
        let reply = self.carry_out(request);
        if expendable && self.shared.faults.drops_this_reply() {
            return false;
        }
        let due = Instant::now() + self.shared.faults.delay();
        let line = FromServer::Reply(number, reply).line();
        self.out.send((due, line)).is_ok()
    }

    fn carry_out(&mut self, request: Request) -> Reply {
        let (shared, client) = (&self.shared, self.client.as_str());
        match request {
            Request::Ping => Reply::Ok,
            Request::Subscribe => {
                shared.subscribe(self.number);
                Reply::Ok
            }
            Request::Try {
                id,
                owner,
                mode,
                time,
                wait,
            } => shared.with(|state| {
                state.try_lease(Try {
                    id: &id,
                    owner,
                    mode,
                    time,
                    wait,
                    client,
                })
            }),
            Request::Renew(leases) => shared.with(|state| {
                let renewed = leases.iter().map(|(id, owner)| state.renew(id, *owner));
                Reply::Renewed(renewed.collect())
            }),
            Request::Release {
                id,
                owner,
                tombstone,
            } => shared.with(|state| state.release(&id, owner, tombstone)),
            Request::Leave { id, owner } => shared.with(|state| state.leave(&id, owner)),
            Request::Upgrade { id, owner } => shared.with(|state| state.upgrade(&id, owner)),
            Request::Downgrade { id, owner } => shared.with(|state| state.downgrade(&id, owner)),
            Request::Batch(steps) => {
                self.is_session = true;
                shared.with(|state| state.batch(self.number, client, &steps))
            }
            Request::Holders(id) => shared.with(|state| Reply::Holders(state.holders(&id))),
            Request::Break(id) => shared.with(|state| Reply::Broken(state.break_lock(&id))),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.part(self.number);
    }
}

async fn write_all(
    mut write: OwnedWriteHalf,
    mut replies: mpsc::UnboundedReceiver<(Instant, String)>,
) {
    while let Some((due, line)) = replies.recv().await {
        if !due.has_passed() {
            tokio::time::sleep(due.remaining()).await;
        }
        if write.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}
