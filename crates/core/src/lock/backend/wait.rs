//! Waiting for a server that is asked again and again, as seldom as its hints allow.

use super::{Hold, Listener, Owned, Releases, Shield};
use crate::lock::{Deadline, Error, ErrorKind, Result};
use futures_util::{FutureExt as _, future::Either};
use rand::RngExt;
use std::time::Duration;

/// What one try brought.
#[derive(Debug)]
pub enum Attempt<H> {
    /// The lock.
    Granted(H),
    /// Somebody else has it.
    Busy {
        /// When it will be free at the latest as far as the server can tell: a lease's rest, say.
        again_in: Option<Duration>,
    },
}

/// How soon to ask again when no hint comes. Each pause is drawn between `least` and three times
/// the one before, up to `most`, and never under a millisecond: waiters drift apart instead of coming in herds (decorrelated
/// jitter, as in the AWS architecture blog's "Exponential Backoff And Jitter").
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The shortest pause.
    pub least: Duration,
    /// The longest pause, which bounds how long a lost hint can go unnoticed.
    pub most: Duration,
}

impl Pace {
    /// Within bounds that make sense: at least a millisecond, and not more than the longest.
    fn bounds(&self) -> (Duration, Duration) {
        let least = self.least.max(Duration::from_millis(1));
        (least, self.most.max(least))
    }

    /// The longest pause, within those bounds.
    pub(super) fn longest(&self) -> Duration {
        self.bounds().1
    }

    fn next(&self, before: Duration) -> Duration {
        let (least, most) = self.bounds();
        rand::rng().random_range(least..=before.saturating_mul(3).clamp(least, most))
    }

    fn within(&self, named: Duration) -> Duration {
        let (least, most) = self.bounds();
        named.clamp(least, most)
    }
}

/// How much longer than the deadline an answer to the last try is waited for.
const GRACE: Duration = Duration::from_millis(500);

/// Tries until granted or until the deadline, with one last try at the deadline. A server that does not answer by half a
/// second after it is waited for no longer.
///
/// Between tries it waits for a hint, but not longer than the time the server named, kept within
/// the bounds of `pace`, or than the next pause of `pace` where it named none. Each try is [shielded](Shield): dropped half way, it goes on to its end and
/// gives back what it was granted.
///
/// # Errors
/// What a try fails with; [`Unavailable`](ErrorKind::Unavailable) if the server does not answer. A try that is given up
/// then goes on by itself as one that was dropped does.
///
/// # Cancel safety
/// Dropping this leaves nothing held.
// Neither is an `async fn`: that would carry what it was given twice (rust-lang/rust#62958), and for each
// of thousands who wait.
pub fn wait_for_grant<H, Try>(
    deadline: Deadline,
    pace: Pace,
    listener: Option<Listener>,
    releases: &Releases,
    mut attempt: impl FnMut() -> Try + Send,
) -> impl Future<Output = Result<Option<Owned<H>>>> + Send
where
    H: Hold,
    Try: Future<Output = Result<Attempt<H>>> + Send + 'static,
{
    let owned = move || {
        // Whoever waits for releases waits for an attempt that may need one. The count goes with the
        // grant and after it, so that there is no moment in which neither counts.
        let (counted, releases) = (releases.count(), releases.clone());
        attempt().map(|tried| {
            Ok(match tried? {
                Attempt::Granted(hold) => Attempt::Granted((Owned::new(hold, releases), counted)),
                Attempt::Busy { again_in } => Attempt::Busy { again_in },
            })
        })
    };
    let granted = tries(deadline, pace, listener, owned, H::QUIET)
        .map(|granted| Ok(granted?.map(|(hold, _counted)| hold)));
    match deadline {
        // The last try begins when the deadline has passed.
        Deadline::At(when) => Either::Left(Box::pin(async move {
            let granted = Deadline::At(when + GRACE).wait_for(granted).await;
            granted.unwrap_or_else(|| Err(unanswered()))
        })),
        Deadline::Now | Deadline::Never => Either::Right(granted),
    }
}

fn unanswered() -> Error {
    let message = "the server did not answer before the wait was over";
    Error::new(ErrorKind::Unavailable, message)
}

/// The same as [`wait_for_grant`] for anything whose drop gives it back: an upgrade, say.
///
/// # Cancel safety
/// As [`wait_for_grant`]. What a try yields after this was dropped is dropped too.
pub fn wait_until<T, Try>(
    deadline: Deadline,
    pace: Pace,
    listener: Option<Listener>,
    attempt: impl FnMut() -> Try + Send,
) -> impl Future<Output = Result<Option<T>>> + Send
where
    T: Send + 'static,
    Try: Future<Output = Result<Attempt<T>>> + Send + 'static,
{
    tries(deadline, pace, listener, attempt, false)
}

#[allow(clippy::manual_async_fn)]
fn tries<T, Try>(
    deadline: Deadline,
    pace: Pace,
    mut listener: Option<Listener>,
    mut attempt: impl FnMut() -> Try + Send,
    quiet: bool,
) -> impl Future<Output = Result<Option<T>>> + Send
where
    T: Send + 'static,
    Try: Future<Output = Result<Attempt<T>>> + Send + 'static,
{
    async move {
        let mut pause = Duration::ZERO;
        loop {
            // Asked before the try: a deadline that passes meanwhile still gets its last one.
            let last = deadline.has_passed();
            let again_in = match Shield::of(attempt(), quiet).await? {
                Attempt::Granted(granted) => return Ok(Some(granted)),
                Attempt::Busy { .. } if last => return Ok(None),
                Attempt::Busy { again_in } => again_in,
            };
            pause = pace.next(pause);
            let longest = again_in.map_or(pause, |named| pace.within(named));
            // Boxed, because most are granted at once and need not carry the room for it.
            Box::pin(wait_for_hint(deadline, longest, listener.as_mut())).await;
        }
    }
}

/// Whether it is a hint, the timer or the deadline: the answer is the same, try again.
async fn wait_for_hint(deadline: Deadline, longest: Duration, listener: Option<&mut Listener>) {
    let hint = async {
        match listener {
            Some(listener) => listener.hinted().await,
            None => std::future::pending().await,
        }
    };
    let _ = deadline.wait_for(tokio::time::timeout(longest, hint)).await;
}
