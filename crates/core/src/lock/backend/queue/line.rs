//! One lock's line in this process: who is in, who asks the server, who waits, and whose turn it
//! is. Nothing here waits or wakes anybody; it is called under the table's lock.

use super::{
    Inner,
    ask::{Ask, Interrupt},
    seat::{Seat, Shared},
    ticket::{Heir, Place, Ticket, Waiter, Wish},
};
use crate::lock::{
    Instant, LockId, Lost, Mode, Request,
    backend::{Backend, Owned, Present, keeper},
    table::Record,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{sync::oneshot, task::AbortHandle};

/// A line is served in this order: an upgrade, then the waiters by their place.
pub(super) struct Line<B: Backend> {
    grants: Vec<Grant>,
    /// The grants, counted by mode. Those on their way back to the server are still among them.
    present: Present,
    /// What is being asked of the server right now.
    asks: Present,
    /// Reaches the one who waits at the server while others of this process are in.
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
    /// Waits for the other readers here to leave.
    Waiting(oneshot::Sender<()>),
    /// Is being asked of the server.
    Asking,
}

/// What becomes of a request that arrives.
pub(super) enum Entry<B: Backend> {
    Seat(Owned<Seat<B>>),
    Ask(Ask<B>),
    Wait(Ticket<B>),
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
    pub(super) fn enter(queue: &Arc<Inner<B>>, id: &LockId, request: &Request) -> Entry<B> {
        let wish = Wish::of(request);
        queue.lines.join(id, |line| {
            let at_once = request.deadline.has_passed();
            line.dismiss_lost();
            if line.waiters.is_empty() {
                if let Some(shared) = line.shared_for(wish, queue.tenure) {
                    let seat = Seat::joined(queue.clone(), id.clone(), wish, shared);
                    return Entry::Seat(Owned::new(seat, queue.releases.clone()));
                }
                if line.may_ask(wish.mode, at_once) {
                    let interrupt = line.begin_ask(wish, at_once);
                    return Entry::Ask(Ask::new(queue.clone(), id.clone(), wish.mode, interrupt));
                }
            }
            if at_once {
                return Entry::Busy;
            }
            Entry::Wait(line.queue_up(queue, id, wish, Place::InTurn(queue.number())))
        })
    }

    /// Puts a request in line at `place`.
    pub(super) fn queue_up(
        &mut self,
        queue: &Arc<Inner<B>>,
        id: &LockId,
        wish: Wish,
        place: Place,
    ) -> Ticket<B> {
        let (waiter, ticket) = Ticket::new(queue.clone(), id.clone(), wish, place);
        self.waiters.insert(place, waiter);
        self.watch(queue, id);
        ticket
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

    /// Whether anybody could take over what somebody leaves.
    pub(super) fn has_heirs(&self) -> bool {
        self.has_waiters() || self.interrupt.is_some()
    }

    /// An ask of the server is over.
    pub(super) fn end_ask(&mut self, mode: Mode) {
        self.asks.remove(mode);
        if self.asks.is_empty() {
            self.interrupt = None;
        }
    }

    /// The server granted; readers may join `shared` from now on.
    pub(super) fn admit(
        &mut self,
        queue: &Arc<Inner<B>>,
        id: &LockId,
        (number, mode, lost): (u64, Mode, Lost),
        shared: Option<&Arc<Shared<B::Hold>>>,
    ) {
        self.present.add(mode);
        // Mostly there is one.
        self.grants.reserve_exact(1);
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
            self.watch(queue, id);
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

    /// An upgradeable reader wants to write. `ready` hears when nobody here is in its way; whoever
    /// waits at the server and would be is to be called back.
    pub(super) fn begin_upgrade(
        &mut self,
        ready: oneshot::Sender<()>,
    ) -> Option<oneshot::Sender<Interrupt<B>>> {
        self.upgrade = Upgrade::Waiting(ready);
        self.interrupt.take().map(|(_, asking)| asking)
    }

    /// The upgrade is over: done, refused or given up.
    pub(super) fn end_upgrade(&mut self, grant: u64, upgraded: bool) {
        self.upgrade = Upgrade::None;
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

    /// Whether the server may be asked for `mode` now. One who would wait there asks alone; one
    /// who would not may ask beside others it goes together with.
    fn may_ask(&self, mode: Mode, at_once: bool) -> bool {
        let free = self.present.and(self.asks).admits(mode);
        free && matches!(self.upgrade, Upgrade::None) && (at_once || self.asks.is_empty())
    }

    fn begin_ask(&mut self, wish: Wish, at_once: bool) -> Option<oneshot::Receiver<Interrupt<B>>> {
        self.asks.add(wish.mode);
        // Only readers and permits are asked for while others are in, and one who does not wait at
        // the server is back soon. So there is one to interrupt at most.
        if at_once || self.present.is_empty() {
            return None;
        }
        let (interrupt, interrupted) = oneshot::channel();
        self.interrupt = Some((wish, interrupt));
        Some(interrupted)
    }

    /// A guard may outlive its grant by far; it is in nobody's way then.
    fn dismiss_lost(&mut self) {
        let lost = |grant: &Grant| grant.lost.get().map(|_| grant.number);
        for number in self.grants.iter().filter_map(lost).collect::<Vec<_>>() {
            self.dismiss(number);
        }
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
        match std::mem::replace(&mut self.upgrade, Upgrade::Asking) {
            Upgrade::Waiting(ready) => Some(ready),
            other => {
                self.upgrade = other;
                None
            }
        }
    }

    /// From now on, a grant that is lost is out of the way of those who wait.
    fn watch(&mut self, queue: &Arc<Inner<B>>, id: &LockId) {
        for grant in self
            .grants
            .iter_mut()
            .filter(|grant| grant.watcher.is_none())
        {
            let (lost, number) = (grant.lost.clone(), grant.number);
            let (queue, id) = (queue.clone(), id.clone());
            let watching = keeper::spawn(async move {
                lost.await;
                queue.lines.visit(&id, |line| line.dismiss(number));
                queue.advance(&id);
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
            grants: Vec::new(),
            present: Present::default(),
            asks: Present::default(),
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
