//! One lock as the memory backend keeps it: who is in, who waits. Called under the table's lock.

use crate::lock::{
    Holder, Holders, Loss, LossSignal, Lost, Mode, OwnerId, Request, Token,
    backend::{Owned, Present, Releases},
    clock,
    holder::Waiting,
    memory::MemoryHold,
    table::Record,
};
use std::{collections::BTreeMap, time::SystemTime};
use tokio::sync::oneshot;

pub(super) type Turn = oneshot::Sender<Owned<MemoryHold>>;

/// What a holder keeps of its grant.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) number: u64,
    pub(super) token: Option<Token>,
    pub(super) lost: Lost,
}

/// What becomes of a request that arrives.
pub(super) enum Admission {
    In(Cell),
    Wait(oneshot::Receiver<Owned<MemoryHold>>),
    Busy,
}

#[derive(Debug, Default)]
pub(super) struct Lock {
    present: Present,
    inside: Vec<Inside>,
    /// The upgradeable reader who waits for the others to leave. Nobody comes in meanwhile.
    upgrading: Option<(u64, oneshot::Sender<Option<Token>>)>,
    waiters: BTreeMap<u64, Waiter>,
}

#[derive(Debug)]
struct Inside {
    number: u64,
    owner: OwnerId,
    mode: Mode,
    token: Option<Token>,
    since: SystemTime,
    signal: LossSignal,
}

#[derive(Debug)]
struct Waiter {
    owner: OwnerId,
    mode: Mode,
    turn: Turn,
    releases: Releases,
}

impl Lock {
    /// A request arrives. It comes in only if nobody waits before it.
    pub(super) fn enter(
        &mut self,
        number: u64,
        request: &Request,
        token: impl FnOnce(Mode) -> Option<Token>,
    ) -> Admission {
        let (owner, mode) = (request.owner, request.mode);
        if self.waiters.is_empty() && self.admits(mode) {
            return Admission::In(self.admit(number, owner, mode, token(mode)));
        }
        if request.deadline.has_passed() {
            return Admission::Busy;
        }
        let (sender, receiver) = oneshot::channel();
        let releases = request.releases.clone();
        self.waiters.insert(
            number,
            Waiter {
                owner,
                mode,
                turn: sender,
                releases,
            },
        );
        Admission::Wait(receiver)
    }

    /// Lets the first who waits in, if that may be.
    pub(super) fn admit_next(
        &mut self,
        token: impl Fn(Mode) -> Option<Token>,
    ) -> Option<(Turn, Releases, Cell)> {
        self.finish_upgrade(&token);
        let mode = self.waiters.first_key_value()?.1.mode;
        if !self.admits(mode) {
            return None;
        }
        let (number, waiter) = self.waiters.pop_first()?;
        let cell = self.admit(number, waiter.owner, mode, token(mode));
        Some((waiter.turn, waiter.releases, cell))
    }

    /// A waiter leaves; `false` if it has been let in already.
    pub(super) fn leave_queue(&mut self, number: u64) -> bool {
        self.waiters.remove(&number).is_some()
    }

    /// A holder leaves.
    pub(super) fn remove(&mut self, number: u64) {
        if let Some(at) = self
            .inside
            .iter()
            .position(|inside| inside.number == number)
        {
            self.present.remove(self.inside.swap_remove(at).mode);
        }
    }

    /// Everybody who is in is put out, and told so.
    pub(super) fn evict(&mut self) -> usize {
        let evicted = std::mem::take(&mut self.inside);
        self.present = Present::default();
        self.upgrading = None;
        for inside in &evicted {
            inside.signal.lose(Loss::Taken);
        }
        evicted.len()
    }

    /// The upgradeable reader `number` wants to write; the answer, its token, comes when it may.
    /// `None` if it is not in, or not an upgradeable reader.
    pub(super) fn begin_upgrade(
        &mut self,
        number: u64,
    ) -> Option<oneshot::Receiver<Option<Token>>> {
        let reader = self.inside.iter().find(|inside| inside.number == number)?;
        if reader.mode != Mode::Upgradeable {
            return None;
        }
        let (ready, receiver) = oneshot::channel();
        self.upgrading = Some((number, ready));
        Some(receiver)
    }

    /// An upgrade is not taken up: its reader is what it was, if it is still in.
    pub(super) fn give_up_upgrade(&mut self, number: u64) {
        self.upgrading
            .take_if(|(upgrading, _)| *upgrading == number);
        self.change_mode(number, Mode::Upgradeable);
    }

    pub(super) fn holders(&self) -> Holders {
        let holder = |inside: &Inside| {
            let mut holder = Holder::new(inside.owner, inside.mode);
            holder.token = inside.token;
            holder.since = Some(inside.since);
            holder.client = Some(format!("process {}", std::process::id()));
            holder
        };
        let waiting = |waiter: &Waiter| Waiting::new(waiter.owner, waiter.mode);
        Holders::new(
            self.inside.iter().map(holder).collect(),
            self.waiters.values().map(waiting).collect(),
        )
    }

    fn admits(&self, mode: Mode) -> bool {
        self.upgrading.is_none() && self.present.admits(mode)
    }

    fn admit(&mut self, number: u64, owner: OwnerId, mode: Mode, token: Option<Token>) -> Cell {
        let (signal, lost) = Lost::signal();
        let since = clock::about_now();
        self.present.add(mode);
        // Mostly there is one.
        self.inside.reserve_exact(1);
        self.inside.push(Inside {
            number,
            owner,
            mode,
            token,
            since,
            signal,
        });
        Cell {
            number,
            token,
            lost,
        }
    }

    /// Makes the upgradeable reader the writer once it is the only one in.
    fn finish_upgrade(&mut self, token: impl Fn(Mode) -> Option<Token>) {
        if self.present.readers() > 0 {
            return;
        }
        let Some((number, ready)) = self.upgrading.take() else {
            return;
        };
        self.change_mode(number, Mode::Write);
        // Drawn here, where the next one's is drawn too: whoever comes after has a higher one.
        let token = token(Mode::Write);
        if let Some(inside) = self
            .inside
            .iter_mut()
            .find(|inside| inside.number == number)
        {
            inside.token = token;
        }
        // An upgrader who left takes it back when its claim is dropped.
        let _ = ready.send(token);
    }

    fn change_mode(&mut self, number: u64, mode: Mode) {
        if let Some(inside) = self
            .inside
            .iter_mut()
            .find(|inside| inside.number == number)
        {
            self.present.remove(inside.mode);
            inside.mode = mode;
            self.present.add(mode);
        }
    }
}

impl Record for Lock {
    fn is_over(&self) -> bool {
        self.inside.is_empty() && self.waiters.is_empty()
    }
}
