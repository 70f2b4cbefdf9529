//! Numbers for dashboards and alarms.

use super::{
    Layer, Observed,
    observed::{Observer, Outcome, Subject, UPGRADE},
};
use crate::lock::{Backend, ErrorKind, Loss, Result};
use metrics::{counter, gauge, histogram};
use std::time::Duration;

/// Counts and measures, for whichever recorder the `metrics` crate was given.
///
/// | metric | kind | labels | what |
/// |---|---|---|---|
/// | `lockwork_acquisitions_total` | counter | `scheme`, `mode`, `outcome` | requests that are over |
/// | `lockwork_wait_seconds` | histogram | `scheme`, `mode`, `outcome` | how long each took |
/// | `lockwork_held` | gauge | `scheme`, `mode` | locks held now |
/// | `lockwork_hold_seconds` | histogram | `scheme`, `mode` | how long each was held, until its release began |
/// | `lockwork_losses_total` | counter | `scheme`, `mode`, `outcome` | held locks that were lost, when it happens |
/// | `lockwork_failed_releases_total` | counter | `scheme`, `mode` | releases that failed |
///
/// * `scheme` is the backend's, [`Info::scheme`](crate::lock::Info::scheme).
/// * `mode` is `exclusive`, `read`, `write`, `upgradeable` or `permit`, or `upgrade` for the step from
///   upgradeable reader to writer. A lock that was upgraded stays `upgradeable` while it is held.
/// * `outcome` of a request is `granted`, `busy`, `abandoned` (its future was dropped, also by
///   [`close`](crate::lock::Locks::close)) or the kind of its error: `lost`, `deadlock`,
///   `unsupported`, `invalid`, `denied`, `unavailable`, `closed`, `unexpected`.
/// * `outcome` of a loss is `expired`, `taken`, `disconnected` or `held_too_long`.
///
/// Never a lock's name: names are as many as there are invoices, and each would be a series of its
/// own. A lost lock is held, by these numbers, until its guard is gone.
///
/// ```
/// use lockwork_core::lock::{Locks, Memory, layers::Metrics};
///
/// let locks = Locks::new(Memory::new()).layer(Metrics::new());
/// # let _ = locks;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Metrics;

impl Metrics {
    /// For whichever recorder is there when something happens.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<B: Backend> Layer<B> for Metrics {
    type Layered = Observed<Self, B>;

    fn layer(self, inner: B) -> Observed<Self, B> {
        Observed::new(self, inner)
    }
}

impl Observer for Metrics {
    fn answered(&self, subject: &Subject, outcome: &Outcome<'_>, waited: Duration) {
        let Subject { scheme, mode, .. } = *subject;
        let word = match outcome {
            Outcome::Granted(_) => "granted",
            Outcome::Busy => "busy",
            Outcome::Abandoned => "abandoned",
            Outcome::Failed(error) => kind(error.kind()),
        };
        counter!("lockwork_acquisitions_total", "scheme" => scheme, "mode" => mode, "outcome" => word)
            .increment(1);
        histogram!("lockwork_wait_seconds", "scheme" => scheme, "mode" => mode, "outcome" => word)
            .record(waited);
        // An upgrade is a step of a hold that is counted already.
        if matches!(outcome, Outcome::Granted(_)) && mode != UPGRADE {
            gauge!("lockwork_held", "scheme" => scheme, "mode" => mode).increment(1);
        }
    }

    fn released(&self, subject: &Subject, released: &Result<()>, held: Duration) {
        let Subject { scheme, mode, .. } = *subject;
        gauge!("lockwork_held", "scheme" => scheme, "mode" => mode).decrement(1);
        histogram!("lockwork_hold_seconds", "scheme" => scheme, "mode" => mode).record(held);
        if released.is_err() {
            counter!("lockwork_failed_releases_total", "scheme" => scheme, "mode" => mode)
                .increment(1);
        }
    }

    fn lost(&self, subject: &Subject, loss: Loss) {
        let Subject { scheme, mode, .. } = *subject;
        let word = match loss {
            Loss::Expired => "expired",
            Loss::Taken => "taken",
            Loss::Disconnected => "disconnected",
            Loss::HeldTooLong => "held_too_long",
        };
        counter!("lockwork_losses_total", "scheme" => scheme, "mode" => mode, "outcome" => word)
            .increment(1);
    }
}

const fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Lost => "lost",
        ErrorKind::Deadlock => "deadlock",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Denied => "denied",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Closed => "closed",
        ErrorKind::Unexpected => "unexpected",
    }
}
