//! What all connections share: the locks, who is connected, and how they hear of changes.

use super::{faults::Faults, state::State};
use crate::standin::protocol::FromServer;
use lockwork::Instant;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::Duration,
};
use tokio::{
    sync::{Notify, mpsc},
    task::AbortHandle,
};

#[derive(Debug)]
pub(super) struct Shared {
    world: Mutex<World>,
    pub(super) faults: Faults,
    pub(super) requests: AtomicU64,
    pub(super) session_timeout: Option<Duration>,
    sweeper: Notify,
}

#[derive(Debug, Default)]
struct World {
    state: State,
    peers: HashMap<u64, Peer>,
}

/// A connection, as the others see it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) out: Outbox,
    pub(super) task: AbortHandle,
    pub(super) subscribed: bool,
}

/// Lines to be written, each not before its time.
pub(super) type Outbox = mpsc::UnboundedSender<(Instant, String)>;

impl Shared {
    pub(super) fn new(session_timeout: Option<Duration>) -> Self {
        Self {
            world: Mutex::default(),
            faults: Faults::none(),
            requests: AtomicU64::new(0),
            session_timeout,
            sweeper: Notify::new(),
        }
    }

    /// Does something with the locks, and tells everybody whom it concerns.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut world = self.world();
        let result = work(&mut world.state);
        let news = std::mem::take(&mut world.state.news);
        if news.early {
            self.sweeper.notify_one();
        }
        for number in news.ended {
            if let Some(peer) = world.peers.get(&number) {
                peer.task.abort();
            }
        }
        if !self.faults.is_muted() {
            let due = Instant::now() + self.faults.delay();
            for id in news.freed {
                let line = FromServer::Freed(id).line();
                for peer in world.peers.values().filter(|peer| peer.subscribed) {
                    let _ = peer.out.send((due, line.clone()));
                }
            }
        }
        result
    }

    pub(super) fn join(&self, number: u64, peer: Peer) {
        self.world().peers.insert(number, peer);
    }

    pub(super) fn subscribe(&self, number: u64) {
        if let Some(peer) = self.world().peers.get_mut(&number) {
            peer.subscribed = true;
        }
    }

    /// A connection is closed.
    pub(super) fn part(&self, number: u64) {
        self.world().peers.remove(&number);
        self.with(|state| state.end_session(number));
    }

    pub(super) fn connections(&self) -> usize {
        self.world().peers.len()
    }

    pub(super) fn end_all_connections(&self) {
        for peer in self.world().peers.values() {
            peer.task.abort();
        }
    }

    /// Ends what has run out, when it has.
    pub(super) async fn sweep(&self) {
        loop {
            match self.with(State::sweep) {
                None => self.sweeper.notified().await,
                Some(next) => {
                    let _ = tokio::time::timeout(next.remaining(), self.sweeper.notified()).await;
                }
            }
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
