//! Seeing in a log who took which lock, how long that took, and what went wrong.

use super::{
    Layer, Observed,
    observed::{Observer, Outcome, Subject},
};
use crate::lock::{Backend, Loss, Result, Token};
use std::time::Duration;
use tracing::{Span, debug, debug_span, warn};

/// Tells `tracing` what happens to locks.
///
/// | what | level | fields |
/// |---|---|---|
/// | span `acquire` around each request for one lock | debug | `lock`, `mode`, `owner` |
/// | a request is over: granted, busy or abandoned | debug | also `outcome`, `waited`, `token` |
/// | a request failed | warn | also `error` |
/// | a held lock is **lost** | warn | also `loss` |
/// | a lock was released | debug | also `held` |
/// | a release failed | warn | also `held`, `error` |
///
/// The target is `lockwork::locks`. `mode` is `upgrade` for the step from upgradeable reader to
/// writer. Owner ids are shortened, as they print themselves: a whole one is a key to its lock.
///
/// A loss is told when it happens, while the guard is still there, on lockwork's own thread. A guard
/// that reaches its [`max_hold`](crate::lock::LockOptions::max_hold) is given back from outside this
/// layer and shows as released.
///
/// ```
/// use lockwork_core::lock::{Locks, Memory, layers::Trace};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let locks = Locks::new(Memory::new()).layer(Trace::new());
/// let guard = locks.mutex("nightly").lock().await?; // DEBUG granted lock=nightly mode=exclusive …
/// # drop(guard); Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Trace;

impl Trace {
    /// Tells whichever subscriber is there.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<B: Backend> Layer<B> for Trace {
    type Layered = Observed<Self, B>;

    fn layer(self, inner: B) -> Observed<Self, B> {
        Observed::new(self, inner)
    }
}

const TARGET: &str = "lockwork::locks";

impl Observer for Trace {
    fn span(&self, subject: &Subject) -> Span {
        let Subject {
            scheme,
            name,
            mode,
            owner,
        } = subject;
        debug_span!(target: TARGET, "acquire", backend = scheme, lock = %name, mode, %owner)
    }

    fn answered(&self, subject: &Subject, outcome: &Outcome<'_>, waited: Duration) {
        let Subject {
            name, mode, owner, ..
        } = subject;
        match outcome {
            Outcome::Granted(token) => {
                let token = token.map(Token::get);
                debug!(target: TARGET, lock = %name, mode, %owner, outcome = "granted", ?waited, token, "granted");
            }
            Outcome::Busy => {
                debug!(target: TARGET, lock = %name, mode, %owner, outcome = "busy", ?waited, "busy until the deadline");
            }
            Outcome::Abandoned => {
                debug!(target: TARGET, lock = %name, mode, %owner, outcome = "abandoned", ?waited, "given up before there was an answer");
            }
            Outcome::Failed(error) => {
                warn!(target: TARGET, lock = %name, mode, %owner, outcome = "failed", ?waited, %error, "could not be acquired");
            }
        }
    }

    fn released(&self, subject: &Subject, released: &Result<()>, held: Duration) {
        let Subject {
            name, mode, owner, ..
        } = subject;
        match released {
            Ok(()) => debug!(target: TARGET, lock = %name, mode, %owner, ?held, "released"),
            Err(error) => {
                warn!(target: TARGET, lock = %name, mode, %owner, ?held, %error, "could not be released");
            }
        }
    }

    fn lost(&self, subject: &Subject, loss: Loss) {
        let Subject {
            name, mode, owner, ..
        } = subject;
        warn!(target: TARGET, lock = %name, mode, %owner, %loss, "lost while it was held");
    }
}
