//! What goes around a backend: retries, traces, metrics, prefixes, and faults for tests.
//!
//! A layer is a [`Backend`] made of another one. [`Locks::layer`](super::Locks::layer) puts it
//! around all that is there already, so the last one added is the first to see a request:
//!
//! ```
//! use lockwork_core::lock::{Locks, Memory, layers::{Prefix, Retry, Trace}};
//!
//! # fn main() -> lockwork_core::lock::Result<()> {
//! let locks = Locks::new(Memory::new())
//!     .layer(Prefix::new("billing/")?) // third: the name the server sees
//!     .layer(Retry::new())             // second: asks again
//!     .layer(Trace::new());            // first: sees the whole wait, retries included
//! # let _ = locks; Ok(()) }
//! ```
//!
//! | layer | for |
//! |---|---|
//! | [`Trace`] | a span and an event per acquire, losses and failed releases |
//! | [`Retry`] | errors that could be over in a second |
//! | [`Prefix`] | several programs on one server |
#![cfg_attr(
    feature = "metrics",
    doc = "| [`Metrics`] | counters and histograms (feature `metrics`) |"
)]
//! | [`Chaos`] | tests: failures, delays, losses, deafness, all from one seed |
//!
//! # Writing one
//!
//! Implement [`Layer`] for the settings and [`Backend`] for what it makes of a backend. The
//! [contract](super::backend) holds for a layer as well, and three things on top:
//!
//! * forward **everything**, the methods that have a default too, and [`Backend::info`] unchanged;
//! * keep the request's owner id and its deadline: they were made once, for all attempts;
//! * a grant that is in your hands across an await travels in an
//!   [`Owned`](super::backend::Owned): a hold knows nothing of being dropped.

mod chaos;
#[cfg(feature = "metrics")]
mod metrics;
mod observed;
mod prefix;
mod retry;
mod trace;

pub use chaos::{Chaos, Chaotic, ChaoticHold};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
pub use observed::{Observed, ObservedHold};
pub use prefix::{Prefix, Prefixed};
pub use retry::{Retried, Retry};
pub use trace::Trace;

use super::Backend;

/// Makes a backend of a backend.
///
/// ```
/// use lockwork_core::lock::{Backend, Locks, Memory, layers::{Chaos, Layer}};
/// use std::time::Duration;
///
/// // Below the queue, where only a backend can be.
/// let slow = Chaos::new(7).delay(0.5, Duration::from_millis(3)).layer(Memory::new());
/// assert_eq!(slow.info(), Memory::new().info());
/// let locks = Locks::new(slow);
/// # let _ = locks;
/// ```
pub trait Layer<B: Backend> {
    /// What comes out.
    type Layered: Backend;

    /// Puts this around `inner`.
    fn layer(self, inner: B) -> Self::Layered;
}
