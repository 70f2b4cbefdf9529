//! A task's part in a grant: the whole of it, or a share among readers.

use super::{Inner, line::within_tenure, ticket::Wish};
use crate::lock::{
    Deadline, Instant, LockId, Lost, Result, Token,
    backend::{Backend, Hold, Owned},
    table::Record,
};
use std::{fmt, sync::Arc, time::Duration};

/// One task's part in a grant of the server.
pub struct Seat<B: Backend> {
    pub(super) queue: Arc<Inner<B>>,
    pub(super) id: LockId,
    pub(super) wish: Wish,
    pub(super) grip: Grip<B::Hold>,
}

pub(super) enum Grip<H> {
    Sole(Sole<H>),
    Shared(Arc<Shared<H>>),
}

/// A grant in one task's hands.
pub(super) struct Sole<H> {
    pub(super) hold: H,
    pub(super) number: u64,
    since: Instant,
    passes: u16,
    pub(super) upgraded: bool,
}

/// A readers' grant in several tasks' hands. The last one out gives it back.
pub(super) struct Shared<H> {
    hold: H,
    wish: Wish,
    number: u64,
    since: Instant,
}

impl<H: Hold> Shared<H> {
    pub(super) fn new(hold: H, wish: Wish, number: u64) -> Self {
        Self {
            hold,
            wish,
            number,
            since: Instant::now(),
        }
    }

    pub(super) fn may_be_joined(&self, wish: Wish, tenure: Duration) -> bool {
        self.wish == wish
            && self.hold.lost().get().is_none()
            && within_tenure(self.since, tenure, self.hold.valid_until())
    }
}

impl<B: Backend> Seat<B> {
    pub(super) fn sole(
        queue: Arc<Inner<B>>,
        id: LockId,
        wish: Wish,
        number: u64,
        hold: B::Hold,
    ) -> Self {
        let since = Instant::now();
        let grip = Grip::Sole(Sole {
            hold,
            number,
            since,
            passes: 0,
            upgraded: false,
        });
        Self {
            queue,
            id,
            wish,
            grip,
        }
    }

    pub(super) const fn joined(
        queue: Arc<Inner<B>>,
        id: LockId,
        wish: Wish,
        shared: Arc<Shared<B::Hold>>,
    ) -> Self {
        Self {
            queue,
            id,
            wish,
            grip: Grip::Shared(shared),
        }
    }

    /// Leaves: passes the lock on, or leaves it to the others, or says what must go back.
    fn leave(self) -> Option<(B::Hold, Departure<B>)> {
        let Self {
            queue,
            id,
            wish,
            grip,
        } = self;
        let (hold, number) = match grip {
            Grip::Sole(sole) => {
                let back = pass_on(&queue, &id, wish, sole)?;
                (back.hold, back.number)
            }
            Grip::Shared(shared) => {
                // Under the line's lock, where others join.
                let last = queue.lines.visit(&id, |_| Arc::into_inner(shared))??;
                (last.hold, last.number)
            }
        };
        Some((hold, Departure { queue, id, number }))
    }
}

/// Hands `sole` to the next in line who may have it, or gives it back to the caller.
fn pass_on<B: Backend>(
    queue: &Arc<Inner<B>>,
    id: &LockId,
    wish: Wish,
    mut sole: Sole<B::Hold>,
) -> Option<Sole<B::Hold>> {
    loop {
        if !queue
            .lines
            .visit(id, |line| line.has_heirs())
            .unwrap_or(false)
        {
            return Some(sole);
        }
        let Some(passes) = passes_after_another(&sole, queue.tenure) else {
            return Some(sole);
        };
        let heir = queue
            .lines
            .visit(id, |line| line.heir(wish, sole.number))
            .flatten();
        let Some(heir) = heir else { return Some(sole) };
        let seat = Seat {
            queue: queue.clone(),
            id: id.clone(),
            wish,
            grip: Grip::Sole(Sole { passes, ..sole }),
        };
        match heir.send(Owned::new(seat, queue.releases.clone())) {
            Ok(()) => return None,
            // It left in the same moment: the next one, then.
            Err(seat) => match seat.into_inner().grip {
                Grip::Sole(back) => sole = back,
                Grip::Shared(_) => unreachable!("what was refused is what was sent"),
            },
        }
    }
}

/// The count of passes after one more; `None` if the grant must go back to the server instead.
fn passes_after_another<H: Hold>(sole: &Sole<H>, tenure: Duration) -> Option<u16> {
    let passes = sole.passes.checked_add(1)?;
    let passable = !sole.upgraded
        && sole.hold.lost().get().is_none()
        && within_tenure(sole.since, tenure, sole.hold.valid_until());
    passable.then_some(passes)
}

/// A grant on its way back to the server. Those it keeps out stay out until it has arrived.
struct Departure<B: Backend> {
    queue: Arc<Inner<B>>,
    id: LockId,
    number: u64,
}

impl<B: Backend> Drop for Departure<B> {
    fn drop(&mut self) {
        let goes_on = self.queue.lines.visit(&self.id, |line| {
            line.dismiss(self.number);
            !line.is_over()
        });
        if goes_on == Some(true) {
            self.queue.advance(&self.id);
        }
    }
}

impl<B: Backend> Hold for Seat<B> {
    fn token(&self) -> Option<Token> {
        match &self.grip {
            Grip::Sole(sole) => sole.hold.token()?.passed(sole.passes),
            Grip::Shared(shared) => shared.hold.token(),
        }
    }

    fn lost(&self) -> Lost {
        match &self.grip {
            Grip::Sole(sole) => sole.hold.lost(),
            Grip::Shared(shared) => shared.hold.lost(),
        }
    }

    fn valid_until(&self) -> Option<Instant> {
        match &self.grip {
            Grip::Sole(sole) => sole.hold.valid_until(),
            Grip::Shared(shared) => shared.hold.valid_until(),
        }
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        super::upgrade::upgrade(self, deadline).await
    }

    async fn release(self) -> Result<()> {
        let Some((hold, departure)) = self.leave() else {
            return Ok(());
        };
        let released = hold.release().await;
        drop(departure);
        released
    }
}

impl<B: Backend> fmt::Debug for Seat<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hold: &dyn fmt::Debug = match &self.grip {
            Grip::Sole(sole) => &sole.hold,
            Grip::Shared(shared) => &shared.hold,
        };
        f.debug_struct("Seat")
            .field("id", &self.id)
            .field("hold", hold)
            .finish_non_exhaustive()
    }
}
