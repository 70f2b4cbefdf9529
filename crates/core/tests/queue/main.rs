//! The in-process queue: order, exclusion, passing on, sharing, upgrades, and leaving half way.

// A test says what it expects by unwrapping it, in its helpers too.
#![allow(clippy::unwrap_used)]

#[path = "../remote/mod.rs"]
mod remote;

mod leaving;
mod order;
mod passing;
mod upgrading;

use lockwork_core::lock::{
    Backend, Deadline, Hold, Instant, Mode, Name, Request, Result,
    backend::{
        Owned, Releases,
        queue::{Queue, Seat},
    },
};
use remote::within;
use std::{num::NonZeroU32, sync::Arc, time::Duration};

const LONG: Duration = Duration::from_secs(3600);

const MODES: [Mode; 5] = [
    Mode::Exclusive,
    Mode::Read,
    Mode::Write,
    Mode::Upgradeable,
    Mode::Permit {
        of: NonZeroU32::MIN.saturating_add(1),
    },
];

fn queue<B: Backend>(backend: B, tenure: Duration) -> Arc<Queue<B>> {
    Arc::new(Queue::new(backend, tenure, Releases::new()))
}

fn ask(mode: Mode, deadline: Deadline) -> Request {
    Request::new(Name::new("x").expect("a name"), mode, deadline)
}

fn soon() -> Deadline {
    Deadline::At(Instant::now() + Duration::from_secs(5))
}

/// What `Locks` does with every hold at once.
fn own<H: Hold>(hold: H) -> Owned<H> {
    Owned::new(hold, Releases::new())
}

async fn asked<B: Backend>(queue: &Queue<B>, request: Request) -> Result<Option<Owned<Seat<B>>>> {
    Ok(queue.acquire(request).await?.map(own))
}

async fn get<B: Backend>(queue: &Queue<B>, mode: Mode) -> Owned<Seat<B>> {
    let granted = within(asked(queue, ask(mode, Deadline::Never))).await;
    granted.expect("no error").expect("waited without limit")
}

async fn try_get<B: Backend>(queue: &Queue<B>, mode: Mode) -> Option<Owned<Seat<B>>> {
    within(asked(queue, ask(mode, Deadline::Now)))
        .await
        .expect("no error")
}

/// Waits until `condition` holds, by looking; for what has no event to await.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(!limit.has_passed(), "not within 5 s: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
