//! The in-process queue in front of every backend.
//!
//! Tasks of one process that want one lock form a line here. Only the head of the line talks to
//! the server, so ten thousand waiters cost it one. And exclusion inside the process is decided
//! here, mode by mode, because a server may not: a database session grants itself the same key
//! twice.
//!
//! * **Order.** First come, first served. A reader does not overtake a waiting writer.
//! * **Passing on.** A released lock may go to the next task in line without a round trip: only
//!   while it is valid with a margin, only to a request for the same mode and lease, for at most
//!   the *tenure* after the server granted it, and with a higher token each time. The new holder
//!   inherits `valid_until` as it is. Then it goes back to the server, so that other processes
//!   get their turn.
//! * **Sharing.** Readers of one process share one grant of the server. Nobody joins a grant
//!   older than the tenure, nor while anybody waits.
//! * **Loss.** Whoever waits behind a holder whose grant is lost does not wait for its guard.

mod ask;
mod line;
mod seat;
mod spot;
mod ticket;
mod upgrade;

pub use seat::Seat;

use self::{
    ask::{Ask, Asked},
    line::{Entry, Line, Next},
    spot::Spot,
    ticket::{Ticket, Turn, Wish},
};
use super::{Backend, Releases};
use crate::lock::{Deadline, Held, Holders, Info, LockId, Report, Request, Result, table::Table};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// How long a process may pass a lock among its own tasks before the server hears of it again. Long enough
/// that handing it to another process, about a millisecond, costs a few per cent of it.
pub const DEFAULT_TENURE: Duration = Duration::from_millis(40);

/// A backend with a queue in front; the [module's page](self) says what that does.
#[derive(Debug)]
pub struct Queue<B: Backend>(Arc<Inner<B>>);

#[derive(Debug)]
struct Inner<B: Backend> {
    backend: B,
    lines: Table<Line<B>>,
    tenure: Duration,
    releases: Releases,
    /// Numbers for tickets and grants, never used twice: a late clean-up must not hit a stranger.
    numbers: AtomicU64,
    /// How many wait in any line. Zero saves whoever leaves a look into its own.
    waiting: AtomicUsize,
}

impl<B: Backend> Queue<B> {
    /// Puts a queue in front of `backend`. A `tenure` of zero passes nothing on and shares nothing.
    pub fn new(backend: B, tenure: Duration, releases: Releases) -> Self {
        Self(Arc::new(Inner {
            backend,
            lines: Table::default(),
            tenure,
            releases,
            numbers: AtomicU64::new(1),
            waiting: AtomicUsize::new(0),
        }))
    }

    /// How many locks somebody in this process holds, asks for or waits for. For tests and
    /// diagnosis.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.0.lines.len()
    }
}

impl<B: Backend> Inner<B> {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

impl<B: Backend> Spot<B> {
    /// Gives turns to those at the head of the line, for as long as there are turns to give.
    fn advance(&self) {
        loop {
            match self.visit(|line| line.next(self.queue.tenure)) {
                None | Some(Next::Nobody) => return,
                Some(Next::Upgrade(ready)) => {
                    // An upgrader that left has taken its claim back, or will, and advances then.
                    let _ = ready.send(());
                    return;
                }
                Some(Next::Join(waiter, shared)) => {
                    let seat = Seat::joined(self.clone(), waiter.wish, shared);
                    // Refused by somebody who left: dropping the seat gives it up.
                    let _ = waiter.send(Turn::Seat(self.own(seat)));
                }
                Some(Next::Ask(waiter, interrupted)) => {
                    let ask = Ask::new(self.clone(), waiter.wish.mode, interrupted);
                    match waiter.send(Turn::Ask(ask)) {
                        Ok(()) => return,
                        Err(Turn::Ask(ask)) => ask.withdraw(),
                        Err(Turn::Seat(_)) => unreachable!("what was refused is what was sent"),
                    }
                }
            }
        }
    }
}

impl<B: Backend> Queue<B> {
    fn spot(&self, request: &Request) -> Spot<B> {
        Spot {
            queue: self.0.clone(),
            id: request.id(),
        }
    }

    async fn beside_others(&self, entry: Entry<B>, request: Request) -> Result<Option<Seat<B>>> {
        match entry {
            Entry::Seat(seat) => Ok(Some(seat.into_inner())),
            Entry::Busy => Ok(None),
            Entry::Wait(ticket) => self.wait(ticket, request).await,
            Entry::Alone(ask) | Entry::Ask(ask) => match ask.put(&request).await? {
                Asked::Granted(seat) => Ok(Some(seat)),
                Asked::Refused => Ok(None),
                Asked::Recalled(ticket) => self.wait(ticket, request.asked_anew()).await,
            },
        }
    }

    /// Waits in line, and asks when it is its turn, as often as that takes.
    async fn wait(&self, mut ticket: Ticket<B>, mut request: Request) -> Result<Option<Seat<B>>> {
        loop {
            let ask = match ticket.turn(request.deadline).await {
                None => return Ok(None),
                Some(Turn::Seat(seat)) => return Ok(Some(seat.into_inner())),
                Some(Turn::Ask(ask)) => ask,
            };
            match ask.put(&request).await? {
                Asked::Granted(seat) => return Ok(Some(seat)),
                Asked::Refused => return Ok(None),
                // An upgrade goes first; back to the head of the line.
                Asked::Recalled(back) => {
                    ticket = back;
                    request = request.asked_anew();
                }
            }
        }
    }
}

impl<B: Backend> Backend for Queue<B> {
    type Hold = Seat<B>;

    fn info(&self) -> Info {
        self.0.backend.info()
    }

    // Not an `async fn`: that would carry the request twice (rust-lang/rust#62958).
    #[allow(clippy::manual_async_fn)]
    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<Seat<B>>>> + Send {
        async move {
            let wish = Wish::of(&request);
            let ask = match Line::enter(self.spot(&request), &request) {
                Entry::Alone(ask) => ask,
                // Boxed, because most requests come alone and need not carry the room for more.
                entry => return Box::pin(self.beside_others(entry, request)).await,
            };
            let hold = self.0.backend.acquire(request).await?;
            Ok(hold.map(|hold| ask.granted(hold, wish)))
        }
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Seat<B>>>> {
        let mut asks = Vec::with_capacity(requests.len());
        for request in &requests {
            let at_once = Request {
                deadline: Deadline::Now,
                ..request.clone()
            };
            match Line::enter(self.spot(request), &at_once) {
                Entry::Alone(ask) | Entry::Ask(ask) => asks.push(ask),
                // Sharing and asking do not mix in one call: leave the shared ones to the caller,
                // who takes them one after the other.
                Entry::Seat(_) | Entry::Wait(_) | Entry::Busy => return Ok(None),
            }
        }
        let Some(holds) = self.0.backend.acquire_all(requests.clone()).await? else {
            return Ok(None);
        };
        let seats = asks.into_iter().zip(holds).zip(&requests);
        Ok(Some(
            seats
                .map(|((ask, hold), request)| ask.granted(hold, Wish::of(request)))
                .collect(),
        ))
    }

    fn holders(&self, id: &LockId) -> impl Future<Output = Result<Holders>> + Send {
        self.0.backend.holders(id)
    }

    fn held(&self, beginning: &str) -> impl Future<Output = Result<Vec<Held>>> + Send {
        self.0.backend.held(beginning)
    }

    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send {
        self.0.backend.break_lock(id)
    }

    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send {
        self.0.backend.doctor()
    }

    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        self.0.backend.collect(idle)
    }
}
