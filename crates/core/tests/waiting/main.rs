//! Waiting for a server that is asked again and again: when it is asked, and when that ends.
//!
//! Where only pauses count, time is tokio's and stands still until everybody waits; deadlines are
//! on the real clock, so tests of deadlines are too.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../common/mod.rs"]
mod common;

mod dropping;
mod ending;
mod hints;
mod pauses;

use common::{
    events::{Count, Gate},
    hold::{FakeHold, Ledger},
};
use lockwork_core::lock::{
    Deadline, Result,
    backend::{Attempt, Listener, Pace, Releases, wait_for_grant},
};
use std::{
    future::{Future, ready},
    sync::{Arc, Mutex},
    time::Duration,
};

const BUSY: Attempt<FakeHold> = Attempt::Busy { again_in: None };

/// No pause of this pace ends within a test.
const NEVER: Pace = Pace {
    least: Duration::from_secs(3600),
    most: Duration::from_secs(3600),
};

/// A server that grants the try with the number `grants`, and counts.
#[derive(Clone, Debug, Default)]
struct Server {
    grants: usize,
    again_in: Option<Duration>,
    tries: Count,
    ledger: Ledger,
    times: Arc<Mutex<Vec<tokio::time::Instant>>>,
}

impl Server {
    fn granting(grants: usize) -> Self {
        Self {
            grants,
            ..Self::default()
        }
    }

    fn attempt(&self) -> impl Future<Output = Result<Attempt<FakeHold>>> + Send + 'static {
        self.tries.add();
        self.times.lock().unwrap().push(tokio::time::Instant::now());
        let again_in = self.again_in;
        ready(Ok(if self.tries.get() == self.grants {
            Attempt::Granted(self.ledger.hold())
        } else {
            Attempt::Busy { again_in }
        }))
    }

    /// The same, answered when `gate` is open.
    fn attempt_behind(
        &self,
        gate: &Gate,
    ) -> impl Future<Output = Result<Attempt<FakeHold>>> + Send + 'static {
        let (gate, attempt) = (gate.clone(), self.attempt());
        async move {
            gate.pass().await;
            attempt.await
        }
    }

    /// Waits as a backend does, and says whether it was granted.
    async fn wait(&self, deadline: Deadline, pace: Pace, listener: Option<Listener>) -> bool {
        let releases = Releases::new();
        let granted = wait_for_grant(deadline, pace, listener, &releases, || self.attempt());
        granted.await.unwrap().is_some()
    }

    /// How long it was between one try and the next.
    fn pauses(&self) -> Vec<Duration> {
        let times = self.times.lock().unwrap();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}
