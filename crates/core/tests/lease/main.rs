//! Leases: when they are renewed, how long they are good, and when they are lost.
//!
//! The clock is the real one, so lengths are a few hundred milliseconds and tolerances are wide
//! where a busy machine could be late, and none where the promise has none.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../common/mod.rs"]
mod common;

mod losing;
mod releasing;
mod renewing;
mod together;
mod upgrading;

use common::{
    eventually,
    leases::{Answer, Leases},
    ms,
};
use lockwork_core::lock::{
    Hold, Instant,
    backend::lease::{LeaseKeeper, Leased, Renewal},
};
use std::{sync::Arc, time::Duration};

const RENEWED: Answer = Answer::Each(Renewal::Renewed);

/// A busy machine may be so late.
const LATE: Duration = ms(60);

fn keeping(script: impl IntoIterator<Item = Answer>) -> (Arc<Leases>, LeaseKeeper<Leases>) {
    let server = Leases::answering(script);
    let keeper = LeaseKeeper::new(server.clone(), 128);
    (server, keeper)
}

fn end(lease: &Leased<Leases>) -> Instant {
    lease.valid_until().unwrap()
}

/// A lease of `time` from `since` is good for a hundredth and two milliseconds less.
fn good_for(since: Instant, time: Duration) -> Instant {
    since + time * 99 / 100 - ms(2)
}

/// Waits until the lease has been extended.
async fn extended(lease: &Leased<Leases>, before: Instant) {
    eventually("the lease was extended", || end(lease) != before).await;
}
