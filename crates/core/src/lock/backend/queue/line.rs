//! One lock's line in this process: who is in, who asks the server, who waits, and whose turn it
//! is. Nothing here waits or wakes anybody; it is called under the table's lock.

use super::{
    ask::{Ask, Interrupt},
    seat::{Seat, Shared},
    spot::Spot,
    ticket::{Heir, Place, Ticket, Turn, Waiter, Waiting, Wish},
};
use crate::lock::{
    Instant, Lost, Mode, Request,
    backend::{Backend, Owned, Present, keeper},
    table::Record,
};
use smallvec::SmallVec;
use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{sync::oneshot, task::AbortHandle};

/// A line is served in this order: an upgrade, then the waiters by their place.
pub(super) struct Line<B: Backend> {
    /// Mostly there is one.
    grants: SmallVec<[Grant; 1]>,
    /// The grants, counted by mode. Those on their way back to the server are still among them.
    present: Present,
    /// What is being asked of the server right now.
    asks: Present,
    /// One of them waits there.
    someone_waits_there: bool,
    /// Reaches that one, if others of this process were in when it asked.
    interrupt: Option<(Wish, oneshot::Sender<Interrupt<B>>)>,
    upgrade: Upgrade,
    /// The youngest readers' grant, which others may join.
    joinable: Weak<Shared<B::Hold>>,
    waiters: BTreeMap<Place, Waiter<B>>,
}

/// One grant of the server, in whoever's hands here.
struct Grant {
    number: u64,
    mode: Mode,
    lost: Lost,
    /// Takes the grant out of the line when it is lost. Begun when somebody waits.
    watcher: Option<AbortHandle>,
}

enum Upgrade {
    None,
    /// This grant's waits for the other readers here to leave.
    Waiting(u64, oneshot::Sender<()>),
    /// This grant's is being asked of the server.
    Asking(u64),
}

/// What becomes of a request that arrives.
pub(super) enum Entry<B: Backend> {
    /// Boxed, so that those who ask need not carry the room for it.
    Seat(Box<Owned<Seat<B>>>),
    /// Nothing can come between the question and its answer.
    Alone(Ask<B>),
    Ask(Ask<B>),
    Wait(Ticket<B>),
    Busy,
}

enum Arrival<B: Backend> {
    Join(Arc<Shared<B::Hold>>),
    Ask(Option<oneshot::Receiver<Interrupt<B>>>),
    Wait(Place, oneshot::Receiver<Turn<B>>),
    Busy,
}

/// Whose turn it is.
pub(super) enum Next<B: Backend> {
    Nobody,
    Upgrade(oneshot::Sender<()>),
    Join(Waiter<B>, Arc<Shared<B::Hold>>),
    Ask(Waiter<B>, Option<oneshot::Receiver<Interrupt<B>>>),
}

impl<B: Backend> Line<B> {
    /// A request arrives.
    pub(super) fn enter(spot: Spot<B>, request: &Request) -> Entry<B> {
        let wish = Wish::of(request);
        match spot.join(|line| line.arrive(&spot, wish, request.deadline.has_passed())) {
            Arrival::Join(shared) => {
                let seat = Seat::joined(spot.clone(), wish, shared);
                Entry::Seat(Box::new(spot.own(seat)))
            }
            Arrival::Ask(None) => Entry::Alone(Ask::new(spot, wish.mode, None)),
            Arrival::Ask(interrupted) => Entry::Ask(Ask::new(spot, wish.mode, interrupted)),
            Arrival::Wait(place, turn) => Entry::Wait(Ticket::new(Waiting::new(spot, place), turn)),
            Arrival::Busy => Entry::Busy,
        }
    }

    fn arrive(&mut self, spot: &Spot<B>, wish: Wish, at_once: bool) -> Arrival<B> {
        self.dismiss_lost();
        if self.waiters.is_empty() {
            if let Some(shared) = self.shared_for(wish, spot.queue.tenure) {
                return Arrival::Join(shared);
            }
            if self.may_ask(wish.mode, at_once) {
                return Arrival::Ask(self.begin_ask(wish, at_once));
            }
        }
        if at_once {
            return Arrival::Busy;
        }
        let place = Place::InTurn(spot.queue.number());
        Arrival::Wait(place, self.queue_up(spot, wish, place))
    }

    /// Puts a request in line at `place`; its turn comes by what this returns.
    pub(super) fn queue_up(
        &mut self,
        spot: &Spot<B>,
        wish: Wish,
        place: Place,
    ) -> oneshot::Receiver<Turn<B>> {
        let (waiter, turn) = Waiter::new(wish);
        self.waiters.insert(place, waiter);
        self.watch(spot);
        turn
    }

    /// Takes a waiter out of the line; `false` if its turn has come already.
    pub(super) fn leave_queue(&mut self, place: Place) -> bool {
        self.waiters.remove(&place).is_some()
    }

    /// The next turn to give, taken.
    pub(super) fn next(&mut self, tenure: Duration) -> Next<B> {
        if let Some(ready) = self.upgrade_that_may_begin() {
            return Next::Upgrade(ready);
        }
        let Some(first) = self.waiters.first_entry() else {
            return Next::Nobody;
        };
        let wish = first.get().wish;
        if let Some(shared) = self.shared_for(wish, tenure) {
            return self
                .waiters
                .pop_first()
                .map_or(Next::Nobody, |(_, w)| Next::Join(w, shared));
        }
        if self.may_ask(wish.mode, false) {
            let Some((_, waiter)) = self.waiters.pop_first() else {
                return Next::Nobody;
            };
            return Next::Ask(waiter, self.begin_ask(wish, false));
        }
        Next::Nobody
    }

    /// Who may take over a grant in `wish`'s mode without the server hearing of it: the one who
    /// asks the server for the same, or the first in line.
    pub(super) fn heir(&mut self, wish: Wish, grant: u64) -> Option<Heir<B>> {
        self.grants.iter().find(|known| known.number == grant)?;
        if let Some((_, asking)) = self.interrupt.take_if(|(asked, _)| *asked == wish) {
            return Some(Heir::Asking(asking));
        }
        let first = self.waiters.first_entry()?;
        (first.get().wish == wish).then(|| Heir::Waiting(first.remove()))
    }

    /// Whether anybody waits here.
    pub(super) fn has_waiters(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// An ask of the server is over.
    pub(super) fn end_ask(&mut self, mode: Mode) {
        self.asks.remove(mode);
        if self.asks.is_empty() {
            self.someone_waits_there = false;
            self.interrupt = None;
        }
    }

    /// The server granted; readers may join `shared` from now on.
    pub(super) fn admit(
        &mut self,
        spot: &Spot<B>,
        (number, mode, lost): (u64, Mode, Lost),
        shared: Option<&Arc<Shared<B::Hold>>>,
    ) {
        self.present.add(mode);
        self.grants.push(Grant {
            number,
            mode,
            lost,
            watcher: None,
        });
        if let Some(shared) = shared {
            self.joinable = Arc::downgrade(shared);
        }
        if self.has_waiters() {
            self.watch(spot);
        }
    }

    /// A grant is gone: given back, or lost. Once is enough; the second time does nothing.
    pub(super) fn dismiss(&mut self, number: u64) {
        let Some(at) = self.grants.iter().position(|grant| grant.number == number) else {
            return;
        };
        let grant = self.grants.swap_remove(at);
        self.present.remove(grant.mode);
        if let Some(watcher) = grant.watcher {
            watcher.abort();
        }
    }

    /// The upgradeable reader of `grant` wants to write. `ready` hears when nobody here is in its
    /// way; whoever waits at the server and would be is to be called back. `None` if the grant is
    /// gone.
    pub(super) fn begin_upgrade(
        &mut self,
        spot: &Spot<B>,
        grant: u64,
        ready: oneshot::Sender<()>,
    ) -> Option<Option<oneshot::Sender<Interrupt<B>>>> {
        self.grants.iter().find(|known| known.number == grant)?;
        self.upgrade = Upgrade::Waiting(grant, ready);
        // Those in its way may be lost without ever leaving.
        self.watch(spot);
        Some(self.interrupt.take().map(|(_, asking)| asking))
    }

    /// The upgrade of `grant` is over: done, refused or given up.
    pub(super) fn end_upgrade(&mut self, grant: u64, upgraded: bool) {
        if matches!(self.upgrade, Upgrade::Waiting(its, _) | Upgrade::Asking(its) if its == grant) {
            self.upgrade = Upgrade::None;
        }
        if let Some(grant) = self
            .grants
            .iter_mut()
            .find(|known| known.number == grant && upgraded)
        {
            self.present.remove(grant.mode);
            grant.mode = Mode::Write;
            self.present.add(grant.mode);
        }
    }

    /// Whether the server may be asked for `mode` now. One who would wait there asks alone. One who
    /// would not may ask beside others it goes together with, but only a reader beside one who
    /// waits there: it takes nothing away.
    fn may_ask(&self, mode: Mode, at_once: bool) -> bool {
        let beside = if self.someone_waits_there {
            mode == Mode::Read
        } else {
            at_once
        };
        self.present.and(self.asks).admits(mode)
            && matches!(self.upgrade, Upgrade::None)
            && (self.asks.is_empty() || (at_once && beside))
    }

    fn begin_ask(&mut self, wish: Wish, at_once: bool) -> Option<oneshot::Receiver<Interrupt<B>>> {
        self.asks.add(wish.mode);
        if at_once {
            return None;
        }
        self.someone_waits_there = true;
        // Who is alone with the server has nothing to hear from the line.
        if self.present.is_empty() {
            return None;
        }
        let (interrupt, interrupted) = oneshot::channel();
        self.interrupt = Some((wish, interrupt));
        Some(interrupted)
    }

    /// A guard may outlive its grant by far; it is in nobody's way then. Whoever watched the grant
    /// for those who wait goes on, and calls them.
    fn dismiss_lost(&mut self) {
        let present = &mut self.present;
        self.grants.retain(|grant| {
            let lost = grant.lost.get().is_some();
            if lost {
                present.remove(grant.mode);
            }
            !lost
        });
    }

    fn shared_for(&self, wish: Wish, tenure: Duration) -> Option<Arc<Shared<B::Hold>>> {
        if wish.mode != Mode::Read || !matches!(self.upgrade, Upgrade::None) {
            return None;
        }
        let shared = self.joinable.upgrade()?;
        shared.may_be_joined(wish, tenure).then_some(shared)
    }

    fn upgrade_that_may_begin(&mut self) -> Option<oneshot::Sender<()>> {
        if self.present.readers() > 0 || !self.asks.is_empty() {
            return None;
        }
        match std::mem::replace(&mut self.upgrade, Upgrade::None) {
            Upgrade::Waiting(grant, ready) => {
                self.upgrade = Upgrade::Asking(grant);
                Some(ready)
            }
            other => {
                self.upgrade = other;
                None
            }
        }
    }

    /// From now on, a grant that is lost is out of the way of those who wait.
    fn watch(&mut self, spot: &Spot<B>) {
        for grant in self
            .grants
            .iter_mut()
            .filter(|grant| grant.watcher.is_none())
        {
            let (lost, number, spot) = (grant.lost.clone(), grant.number, spot.clone());
            let watching = keeper::spawn(async move {
                lost.await;
                spot.visit(|line| line.dismiss(number));
                spot.advance();
            });
            grant.watcher = Some(watching.abort_handle());
        }
    }
}

impl<B: Backend> Record for Line<B> {
    fn is_over(&self) -> bool {
        self.grants.is_empty()
            && self.asks.is_empty()
            && self.waiters.is_empty()
            && matches!(self.upgrade, Upgrade::None)
    }
}

impl<B: Backend> Default for Line<B> {
    fn default() -> Self {
        Self {
            grants: SmallVec::new(),
            present: Present::default(),
            asks: Present::default(),
            someone_waits_there: false,
            interrupt: None,
            upgrade: Upgrade::None,
            joinable: Weak::new(),
            waiters: BTreeMap::new(),
        }
    }
}

impl<B: Backend> std::fmt::Debug for Line<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("present", &self.present)
            .field("asks", &self.asks)
            .field("waiters", &self.waiters.len())
            .finish_non_exhaustive()
    }
}

/// Whether a grant is young enough to stay in this process.
pub(super) fn within_tenure(
    since: Instant,
    tenure: Duration,
    valid_until: Option<Instant>,
) -> bool {
    let now = Instant::now();
    let margin = tenure.max(LEAST_MARGIN);
    now.saturating_duration_since(since) < tenure
        && valid_until.is_none_or(|until| until.saturating_duration_since(now) > margin)
}

/// What must be left of a grant for it to change hands: enough for the new holder to notice.
const LEAST_MARGIN: Duration = Duration::from_millis(10);
