//! One session on one connection.

use crate::standin::{
    protocol::{FromServer, Reply, Request, Step, Verb},
    wire::{connect, unavailable, unexpected},
};
use lockwork::{
    Error, LockId, Name, Result, Space,
    backend::session::{Answer, Batch, Open, Session, Taken},
};
use std::{io, net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
};

/// Opens sessions.
#[derive(Debug)]
pub struct Connector {
    addr: SocketAddr,
}

impl Connector {
    pub(super) const fn to(addr: SocketAddr) -> Self {
        Self { addr }
    }
}

impl Open for Connector {
    type Session = Connection;

    async fn open(&self, _: Option<Duration>) -> Result<Connection> {
        let (read, write) = connect(self.addr).await?.into_split();
        Ok(Connection {
            lines: BufReader::new(read).lines(),
            write,
            last_number: 0,
        })
    }

    fn key(&self, id: &LockId) -> (Space, Name) {
        (id.space, id.name.clone())
    }
}

/// A connection on which grants live. Closing it ends them.
#[derive(Debug)]
pub struct Connection {
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
    last_number: u64,
}

impl Session for Connection {
    type Key = (Space, Name);

    async fn exchange(&mut self, batch: &Batch<Self::Key>) -> Result<Answer<Self::Key>> {
        self.last_number += 1;
        let line = Request::Batch(steps(batch)).line(self.last_number);
        self.write.write_all(line.as_bytes()).await.map_err(broke)?;
        let answer = self.lines.next_line().await.map_err(broke)?;
        let answer = answer.ok_or_else(|| unavailable("the server closed the session"))?;
        match FromServer::read(&answer) {
            Some(FromServer::Reply(number, Reply::Taken(taken))) if number == self.last_number => {
                let taken = taken.into_iter().map(|(id, token)| Taken {
                    key: (id.space, id.name),
                    token,
                });
                Ok(Answer::granting(taken.collect()))
            }
            Some(FromServer::Reply(_, other)) => Err(unexpected(&other)),
            _ => Err(unexpected(&Reply::Error(answer))),
        }
    }

    /// Nothing can be said on a connection that broke. Closing it has the same effect.
    async fn clean_up(&mut self, _: &Batch<Self::Key>) -> Result<()> {
        Err(unavailable("the connection broke"))
    }

    async fn news(&mut self) -> Result<Self::Key> {
        match self.lines.next_line().await {
            Ok(None) => Err(unavailable("the server closed the session")),
            Ok(Some(line)) => Err(unexpected(&Reply::Error(line))),
            Err(error) => Err(broke(error)),
        }
    }
}

fn steps(batch: &Batch<(Space, Name)>) -> Vec<Step> {
    let step = |verb, key: &(Space, Name), mode| Step {
        verb,
        id: LockId::new(key.0, key.1.clone()),
        mode,
    };
    let gives = batch.gives.iter().map(|give| match give.downgrade {
        true => step(Verb::Downgrade, &give.key, give.mode),
        false => step(Verb::Give, &give.key, give.mode),
    });
    let takes = batch.takes.iter().map(|take| match take.upgrade {
        true => step(Verb::Upgrade, &take.key, take.mode),
        false => step(Verb::Take, &take.key, take.mode),
    });
    gives.chain(takes).collect()
}

fn broke(error: io::Error) -> Error {
    unavailable("the connection broke").because(error)
}
