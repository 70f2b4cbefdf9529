//! Waiting for a server that is asked again and again, as seldom as its hints allow.

use super::{Hold, Listener, Owned, Releases, Shield};
use crate::lock::{Deadline, Result};
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
/// the one before, up to `most`: waiters drift apart instead of coming in herds (decorrelated
/// jitter, as in the AWS architecture blog's "Exponential Backoff And Jitter").
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The shortest pause.
    pub least: Duration,
    /// The longest pause, which bounds how long a lost hint can go unnoticed.
    pub most: Duration,
}

impl Pace {
    fn next(&self, before: Duration) -> Duration {
        let upper = before.saturating_mul(3).clamp(self.least, self.most);
        if upper <= self.least {
            return self.least;
        }
        rand::rng().random_range(self.least..=upper)
    }
}

/// Tries until granted or until the deadline, with one last try at the deadline.
///
/// Between tries it waits for a hint, for the time the server named, or for the pause of `pace`,
/// whichever is first. Each try is [shielded](Shield): dropped half way, it goes on to its end and
/// gives back what it was granted.
///
/// # Cancel safety
/// Dropping this leaves nothing held.
pub async fn wait_for_grant<H, Try>(
    deadline: Deadline,
    pace: Pace,
    listener: Option<Listener>,
    releases: &Releases,
    mut attempt: impl FnMut() -> Try + Send,
) -> Result<Option<Owned<H>>>
where
    H: Hold,
    Try: Future<Output = Result<Attempt<H>>> + Send + 'static,
{
    let owned = || {
        let (attempt, releases) = (attempt(), releases.clone());
        async move {
            // Whoever waits for releases waits for an attempt that may need one.
            let _counted = releases.count();
            Ok(match attempt.await? {
                Attempt::Granted(hold) => Attempt::Granted(Owned::new(hold, releases.clone())),
                Attempt::Busy { again_in } => Attempt::Busy { again_in },
            })
        }
    };
    wait_until(deadline, pace, listener, owned).await
}

/// The same for anything whose drop gives it back.
pub(super) async fn wait_until<T, Try>(
    deadline: Deadline,
    pace: Pace,
    mut listener: Option<Listener>,
    mut attempt: impl FnMut() -> Try + Send,
) -> Result<Option<T>>
where
    T: Send + 'static,
    Try: Future<Output = Result<Attempt<T>>> + Send + 'static,
{
    let mut pause = Duration::ZERO;
    loop {
        // Asked before the try: a deadline that passes meanwhile still gets its last one.
        let last = deadline.has_passed();
        let again_in = match Shield::new(attempt()).await? {
            Attempt::Granted(granted) => return Ok(Some(granted)),
            Attempt::Busy { .. } if last => return Ok(None),
            Attempt::Busy { again_in } => again_in,
        };
        pause = pace.next(pause);
        let longest = again_in.map_or(pause, |named| named.clamp(pace.least, pace.most));
        let hint = async {
            match &mut listener {
                Some(listener) => listener.hinted().await,
                None => std::future::pending().await,
            }
        };
        // Whether it was a hint, the timer or the deadline: the answer is the same, try again.
        let _ = deadline.wait_for(tokio::time::timeout(longest, hint)).await;
    }
}
