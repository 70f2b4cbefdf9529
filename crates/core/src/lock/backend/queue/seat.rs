//! A task's part in a grant: the whole of it, or a share among readers.

use super::{line::within_tenure, spot::Spot, ticket::Wish};
use crate::lock::{
    Deadline, Instant, Lost, Result, Token,
    backend::{Backend, Hold},
    table::Record,
};
use futures_util::{FutureExt as _, future::OptionFuture};
use std::{fmt, sync::Arc, time::Duration};

/// One task's part in a grant of the server.
pub struct Seat<B: Backend> {
    pub(super) spot: Spot<B>,
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
    pub(super) fn sole(spot: Spot<B>, wish: Wish, number: u64, hold: B::Hold) -> Self {
        let since = Instant::now();
        let grip = Grip::Sole(Sole {
            hold,
            number,
            since,
            passes: 0,
            upgraded: false,
        });
        Self { spot, wish, grip }
    }

    pub(super) const fn joined(spot: Spot<B>, wish: Wish, shared: Arc<Shared<B::Hold>>) -> Self {
        Self {
            spot,
            wish,
            grip: Grip::Shared(shared),
        }
    }

    /// Leaves: passes the lock on, or leaves it to the others, or says what must go back.
    fn leave(self) -> Option<(B::Hold, Departure<B>)> {
        let Self { spot, wish, grip } = self;
        let (hold, number) = match grip {
            Grip::Sole(sole) => {
                let back = pass_on(&spot, wish, sole)?;
                (back.hold, back.number)
            }
            Grip::Shared(shared) => {
                let mut shared = Some(shared);
                // Under the line's lock, where others join; without a line, nobody can.
                let last = spot
                    .visit(|_| shared.take().and_then(Arc::into_inner))
                    .flatten();
                let last = last.or_else(|| shared.and_then(Arc::into_inner))?;
                (last.hold, last.number)
            }
        };
        Some((hold, Departure { spot, number }))
    }
}

/// Hands `sole` to the next in line who may have it, or gives it back to the caller.
fn pass_on<B: Backend>(
    spot: &Spot<B>,
    wish: Wish,
    mut sole: Sole<B::Hold>,
) -> Option<Sole<B::Hold>> {
    loop {
        if !spot.anybody_waits() {
            return Some(sole);
        }
        let Some(passes) = passes_after_another(&sole, spot.queue.tenure) else {
            return Some(sole);
        };
        let Some(heir) = spot.visit(|line| line.heir(wish, sole.number)).flatten() else {
            return Some(sole);
        };
        let grip = Grip::Sole(Sole { passes, ..sole });
        match heir.send(spot.own(Seat {
            spot: spot.clone(),
            wish,
            grip,
        })) {
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
    spot: Spot<B>,
    number: u64,
}

impl<B: Backend> Drop for Departure<B> {
    fn drop(&mut self) {
        let goes_on = self.spot.visit(|line| {
            line.dismiss(self.number);
            !line.is_over()
        });
        if goes_on == Some(true) {
            self.spot.advance();
        }
    }
}

impl<B: Backend> Hold for Seat<B> {
    const AT_ONCE: bool = B::Hold::AT_ONCE;
    const QUIET: bool = B::Hold::QUIET;

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

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        match &self.grip {
            Grip::Sole(sole) => sole.hold.descriptors(),
            Grip::Shared(shared) => shared.hold.descriptors(),
        }
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        super::upgrade::upgrade(self, deadline).await
    }

    fn release(self) -> impl Future<Output = Result<()>> + Send {
        let leaving = self.leave().map(|(hold, departure)| {
            hold.release().map(move |released| {
                drop(departure);
                released
            })
        });
        // Passed on, there is nothing left to do.
        OptionFuture::from(leaving).map(|released| released.unwrap_or(Ok(())))
    }
}

impl<B: Backend> fmt::Debug for Seat<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hold: &dyn fmt::Debug = match &self.grip {
            Grip::Sole(sole) => &sole.hold,
            Grip::Shared(shared) => &shared.hold,
        };
        f.debug_struct("Seat")
            .field("id", &self.spot)
            .field("hold", hold)
            .finish_non_exhaustive()
    }
}
