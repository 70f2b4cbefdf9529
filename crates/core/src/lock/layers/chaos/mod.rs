//! Faults on purpose, for tests: the same ones for the same seed.

mod backend;
mod hold;
mod plan;

pub use backend::Chaotic;
pub use hold::ChaoticHold;

use super::Layer;
use crate::lock::Backend;
use std::time::Duration;

/// Makes a backend fail, be slow, lose locks and forget to tell, as a seed has it. For tests.
///
/// Does nothing until told what to do. The n-th operation meets the n-th fate of the plan, and the
/// plan depends on the seed and these settings only: the same operations in the same order see the
/// same faults on every machine. Operations are acquiring, upgrading, `holders`, `break_lock`,
/// `doctor` and `collect`; each of several locks taken at once is one. A release is always passed on: one that never arrives is not something a
/// layer could make good again.
///
/// Every injected failure is [`Unavailable`](crate::lock::ErrorKind::Unavailable), transient, and
/// says that it was injected.
///
/// Around a whole [`Locks`](crate::lock::Locks) it shows what a program does about such locks. Below
/// the queue, around a backend, it shows that lockwork does the right thing about such a server:
///
/// ```
/// use lockwork_core::lock::{Locks, Memory, layers::{Chaos, Layer}};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let chaos = Chaos::new(7).fail_before(0.3).fail_after(0.3);
/// let around = Locks::new(Memory::new()).layer(chaos);
/// let below = Locks::new(chaos.layer(Memory::new()));
/// for locks in [around, below] {
///     let mut failed = 0;
///     for _ in 0..100 {
///         failed += u32::from(locks.mutex("a").lock().await.is_err());
///     }
///     assert!((20..80).contains(&failed), "about half of them: {failed}");
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Chaos {
    seed: u64,
    fail_before: f64,
    fail_after: f64,
    delay: (f64, Duration),
    lose: (f64, Duration),
    deaf: Option<Duration>,
}

impl Chaos {
    /// A plan without any faults yet.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            fail_before: 0.0,
            fail_after: 0.0,
            delay: (0.0, Duration::ZERO),
            lose: (0.0, Duration::ZERO),
            deaf: None,
        }
    }

    /// With this probability an operation fails before it reaches the backend.
    #[must_use]
    pub const fn fail_before(mut self, probability: f64) -> Self {
        self.fail_before = probability;
        self
    }

    /// With this probability an operation is done and its answer is lost. What was granted is given
    /// back before the error is seen. Upgrades are left out: what became of one must be known.
    #[must_use]
    pub const fn fail_after(mut self, probability: f64) -> Self {
        self.fail_after = probability;
        self
    }

    /// With this probability an operation or its answer is late, by `longest` at most. A deadline
    /// does not shorten that, as it would not on a network.
    #[must_use]
    pub const fn delay(mut self, probability: f64, longest: Duration) -> Self {
        self.delay = (probability, longest);
        self
    }

    /// With this probability a grant is [`Taken`](crate::lock::Loss::Taken) from its holder, at some
    /// time within `within`. The guard is told and invalid from then on, and the lock goes to others.
    #[must_use]
    pub const fn lose(mut self, probability: f64, within: Duration) -> Self {
        self.lose = (probability, within);
        self
    }

    /// Nobody who waits is told anything: the backend is asked again every `pause`, and never to
    /// wait. So those who wait have no order. Upgrades still wait as they did.
    #[must_use]
    pub const fn deaf(mut self, pause: Duration) -> Self {
        self.deaf = Some(pause);
        self
    }
}

impl<B: Backend> Layer<B> for Chaos {
    type Layered = Chaotic<B>;

    fn layer(self, inner: B) -> Chaotic<B> {
        Chaotic::new(self, inner)
    }
}
