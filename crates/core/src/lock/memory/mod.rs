//! Locks within this process: the reference for every other backend.
//!
//! All modes, tokens, and waits that cost nothing while they last. Use it in tests, in programs
//! that may one day have a second process, and to see what a backend must do.

mod named;
mod state;
mod waiting;

pub use named::MEMORY;

use self::state::{Admission, Cell, Lock};
use super::{
    Deadline, Error, ErrorKind, Finding, Guarantee, Held, Holders, Info, Instant, LockId, Lost,
    Mode, Report, Request, Result, Scope, Severity, Token,
    backend::{Backend, Hold, Owned, try_each},
    in_line::InLine,
    info::Capability,
    table::{Record, Table},
};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// What the memory backend is and can do.
pub const MEMORY_INFO: Info = Info::new(
    "memory",
    Scope::Process,
    Guarantee::Process,
    Capability::all(),
);

/// Locks within this process. Clones are one: they exclude each other.
///
/// `memory:` in a URL is one such place for the whole process, and `memory:NAME` another.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    locks: Table<Lock>,
    /// One counter for all names: it rises for each, and a name used once leaves nothing behind.
    tokens: AtomicU64,
    /// Numbers for grants and waiters, never used twice.
    numbers: AtomicU64,
}

impl Memory {
    /// A place of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many locks are held or waited for. For tests and diagnosis.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.locks.len()
    }

    /// Whether nothing is held or waited for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes every lock away from everybody, as a server that lost its state would; from how many.
    /// For tests: their guards are lost.
    pub fn forget_everything(&self) -> usize {
        self.0.locks.ids().iter().map(|id| self.0.evict(id)).sum()
    }
}

/// What becomes of a request that arrives.
enum Entry {
    In(MemoryHold),
    /// Boxed, because most requests never wait and need not carry the room for it.
    Wait(Pin<Box<dyn Future<Output = Option<Owned<MemoryHold>>> + Send>>),
    Busy,
}

impl Inner {
    fn enter(self: &Arc<Self>, request: &Request) -> Entry {
        let (id, number) = (request.id(), self.number());
        let token = |mode| self.token_for(mode);
        match self
            .locks
            .join(&id, |lock| lock.enter(number, request, token))
        {
            Admission::In(cell) => Entry::In(MemoryHold {
                memory: self.clone(),
                id,
                cell,
            }),
            Admission::Busy => Entry::Busy,
            Admission::Wait(turn) => {
                let waiting = waiting::Waiting::new(self.clone(), id, number);
                Entry::Wait(Box::pin(InLine::new(waiting, turn).turn(request.deadline)))
            }
        }
    }

    /// Puts everybody out who holds `id`, and lets in who waits; how many were put out.
    fn evict(self: &Arc<Self>, id: &LockId) -> usize {
        let evicted = self.locks.visit(id, Lock::evict).unwrap_or(0);
        self.advance(id);
        evicted
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn token(&self) -> Option<Token> {
        Token::from_server(self.tokens.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Admits those at the head of the line who may come in now.
    fn advance(self: &Arc<Self>, id: &LockId) {
        loop {
            let admitted = self
                .locks
                .visit(id, |lock| lock.admit_next(|mode| self.token_for(mode)));
            match admitted.flatten() {
                None => return,
                Some((turn, releases, cell)) => {
                    let hold = MemoryHold {
                        memory: self.clone(),
                        id: id.clone(),
                        cell,
                    };
                    // Refused by somebody who left: dropping the hold gives it up.
                    let _ = turn.send(Owned::new(hold, releases));
                }
            }
        }
    }

    fn token_for(&self, mode: Mode) -> Option<Token> {
        mode.has_token().then(|| self.token()).flatten()
    }
}

impl Backend for Memory {
    type Hold = MemoryHold;

    fn info(&self) -> Info {
        MEMORY_INFO
    }

    // Not an `async fn`: that would carry the request twice (rust-lang/rust#62958).
    #[allow(clippy::manual_async_fn)]
    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<MemoryHold>>> + Send {
        async move {
            let waiting = match self.0.enter(&request) {
                Entry::In(hold) => return Ok(Some(hold)),
                Entry::Busy => return Ok(None),
                Entry::Wait(waiting) => waiting,
            };
            Ok(waiting.await.map(Owned::into_inner))
        }
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<MemoryHold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        Ok(self
            .0
            .locks
            .visit(id, |lock| lock.holders())
            .unwrap_or_default())
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let ids = self.0.locks.ids().into_iter();
        let held = ids.filter(|id| id.name.as_str().starts_with(beginning));
        let held = held.filter_map(|id| {
            let holders = self.0.locks.visit(&id, |lock| lock.holders())?;
            let is_held = !holders.holders.is_empty();
            is_held.then(|| Held::whole(id.space, id.name.as_str().to_owned(), holders))
        });
        Ok(held.collect())
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        Ok(self.0.evict(id))
    }

    async fn doctor(&self) -> Result<Report> {
        Ok(Report::new(vec![Finding::new(
            Severity::Note,
            "these locks exclude tasks of this process and nobody else",
            "use file: for one machine, or a server for several",
        )]))
    }
}

/// A lock held in [`Memory`].
#[derive(Debug)]
pub struct MemoryHold {
    memory: Arc<Inner>,
    id: LockId,
    cell: Cell,
}

impl MemoryHold {
    fn cannot_upgrade(&self) -> Error {
        let message = "only an upgradeable reader can be upgraded, and only once";
        let invalid = || Error::new(ErrorKind::Invalid, message);
        self.cell.lost.get().map_or_else(invalid, Into::into)
    }
}

impl Hold for MemoryHold {
    const AT_ONCE: bool = true;

    fn token(&self) -> Option<Token> {
        self.cell.token
    }

    fn lost(&self) -> Lost {
        self.cell.lost.clone()
    }

    fn valid_until(&self) -> Option<Instant> {
        None
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let number = self.cell.number;
        let asked = self
            .memory
            .locks
            .visit(&self.id, |lock| lock.begin_upgrade(number));
        let Some(ready) = asked.flatten() else {
            return Err(self.cannot_upgrade());
        };
        let claim = waiting::UpgradeClaim::new(self.memory.clone(), self.id.clone(), number);
        self.memory.advance(&self.id);
        match deadline.wait_for(ready).await {
            // Put out just after it was made the writer, it is neither.
            Some(Ok(_)) | Some(Err(_)) if self.cell.lost.get().is_some() => {
                Err(self.cannot_upgrade())
            }
            Some(Ok(token)) => {
                claim.succeed();
                self.cell.token = token;
                Ok(true)
            }
            Some(Err(_)) => Err(self.cannot_upgrade()),
            None => Ok(false),
        }
    }

    async fn release(self) -> Result<()> {
        let goes_on = self.memory.locks.visit(&self.id, |lock| {
            lock.remove(self.cell.number);
            !lock.is_over()
        });
        if goes_on == Some(true) {
            self.memory.advance(&self.id);
        }
        Ok(())
    }
}
