//! A grant on a session, as a hold.

use super::{
    Give, Take,
    actor::{Ask, Link},
    riders::{Taking, Ticket},
};
use crate::lock::{
    Deadline, Error, ErrorKind, Instant, LockId, Lost, Mode, Result, Token,
    backend::{Hints, Hold, Pace, Upgrade, upgrade::UpgradeGate},
};
use std::{
    fmt,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::oneshot;

/// A grant that lives on a session.
#[derive(Debug)]
pub struct SessionHold<K: Eq + Hash> {
    session: Link<K>,
    key: K,
    mode: Mode,
    token: Option<Token>,
    upgrades: UpgradeGate,
    /// Released: what becomes of the session later is no loss.
    over: Arc<AtomicBool>,
    /// How to wait for an upgrade.
    waiting: (Pace, Hints, LockId),
}

impl<K: Clone + Eq + Hash> SessionHold<K> {
    pub(super) fn new(
        session: Link<K>,
        key: K,
        mode: Mode,
        token: Option<Token>,
        waiting: (Pace, Hints, LockId),
    ) -> Self {
        Self {
            session,
            key,
            mode,
            token,
            upgrades: UpgradeGate::default(),
            over: Arc::default(),
            waiting,
        }
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Hold for SessionHold<K> {
    fn token(&self) -> Option<Token> {
        self.token
    }

    fn lost(&self) -> Lost {
        self.session.cell.lost().share(self.over.clone())
    }

    fn valid_until(&self) -> Option<Instant> {
        self.session.cell.valid_until()
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let (pace, hints, id) = &self.waiting;
        let (session, key) = (&self.session, &self.key);
        let up = || take_upgrade(session.clone(), key.clone());
        let down = give(session.clone(), key.clone(), Mode::Write, true);
        let listener = Some(hints.listen(id));
        let done = self
            .upgrades
            .upgrade(deadline, *pace, listener, up, down)
            .await?;
        if let Some(token) = done {
            self.token = token;
            self.mode = Mode::Write;
        }
        Ok(done.is_some())
    }

    async fn release(self) -> Result<()> {
        self.over.store(true, Ordering::Release);
        self.upgrades.settled().await;
        give(self.session, self.key, self.mode, false).await
    }
}

async fn take_upgrade<K: Eq + Hash>(session: Link<K>, key: K) -> Result<Upgrade> {
    let (reply, answer) = oneshot::channel();
    let take = Take {
        key,
        mode: Mode::Write,
        upgrade: true,
        waits: false,
    };
    session.ask(Ask::Take(Taking {
        take,
        claim: None,
        reply,
        ticket: Ticket::default(),
    }));
    match answer.await {
        Ok(answer) => Ok(answer?.map_or(Upgrade::Busy, |granted| Upgrade::Done(granted.accept()))),
        Err(_) => Err(Error::new(
            ErrorKind::Lost,
            "the connection the lock lived on is gone",
        )),
    }
}

async fn give<K: Eq + Hash>(session: Link<K>, key: K, mode: Mode, downgrade: bool) -> Result<()> {
    let (reply, answer) = oneshot::channel();
    let give = Give {
        key,
        mode,
        downgrade,
    };
    session.ask(Ask::Give((give, Some(reply))));
    // A session that has ended has given everything back.
    answer.await.unwrap_or(Ok(()))
}
