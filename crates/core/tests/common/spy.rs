//! Sessions that grant everything, on one key that tells when the keeper thread looks it up: so
//! that a test can come in at the worst moment.

use lockwork_core::lock::{
    LockId, Result,
    backend::session::{Answer, Batch, Open, Session, Taken},
};
use std::{
    hash::{Hash, Hasher},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

static ARMED: AtomicBool = AtomicBool::new(false);
static SEEN: AtomicBool = AtomicBool::new(false);
static DELAY: AtomicU64 = AtomicU64::new(0);

/// The next time the keeper looks a key up, it tells so and takes a little longer.
pub(crate) fn arm(delay: Duration) {
    let nanos = u64::try_from(delay.as_nanos()).expect("a delay is short");
    DELAY.store(nanos, Ordering::Relaxed);
    ARMED.store(true, Ordering::Release);
}

/// Whether it has told so. Once.
pub(crate) fn seen() -> bool {
    SEEN.swap(false, Ordering::Acquire)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key;

#[allow(clippy::derived_hash_with_manual_eq, reason = "all keys are one")]
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
        let keeper = || thread::current().name() == Some("lockwork-keeper");
        if ARMED.load(Ordering::Acquire) && keeper() {
            ARMED.store(false, Ordering::Relaxed);
            SEEN.store(true, Ordering::Release);
            let (now, delay) = (Instant::now(), DELAY.load(Ordering::Relaxed));
            while now.elapsed() < Duration::from_nanos(delay) {
                std::hint::spin_loop();
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct GrantsAll;

impl Open for GrantsAll {
    type Session = Self;

    async fn open(&self, _: Option<Duration>) -> Result<Self> {
        Ok(Self)
    }

    fn key(&self, _: &LockId) -> Key {
        Key
    }
}

impl Session for GrantsAll {
    type Key = Key;

    async fn exchange(&mut self, batch: &Batch<Key>) -> Result<Answer<Key>> {
        let granted = |_| Taken {
            key: Key,
            token: None,
        };
        Ok(Answer::granting(batch.takes.iter().map(granted).collect()))
    }

    async fn clean_up(&mut self, _: &Batch<Key>) -> Result<()> {
        Ok(())
    }

    async fn news(&mut self) -> Result<Key> {
        std::future::pending().await
    }
}
