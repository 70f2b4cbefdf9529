//! Release on drop: the one place in lockwork where that happens.

use super::{Hold, Shield, keeper};
use crate::lock::{Deadline, Error, ErrorKind, Instant, Lost, Result, Token};
use futures_util::FutureExt as _;
use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

/// A hold that is given back when dropped.
///
/// Every grant travels in one of these, through channels, futures and guards, from the moment it
/// exists until it is released. The drop may happen on any thread, in a runtime or not. A release
/// that needs no waiting happens then and there; any other goes on on the
/// [keeper thread](super::keeper),
/// and its failure is logged once.
#[derive(Debug)]
pub struct Owned<H: Hold> {
    /// `None` once released.
    hold: Option<H>,
    releases: Releases,
}

impl<H: Hold> Owned<H> {
    /// Takes charge of `hold`; its release is counted in `releases`.
    pub const fn new(hold: H, releases: Releases) -> Self {
        Self {
            hold: Some(hold),
            releases,
        }
    }

    /// The hold itself, which from now on nobody releases unless its taker does.
    #[must_use]
    pub fn into_inner(mut self) -> H {
        self.hold
            .take()
            .expect("a hold is taken out once, by value")
    }

    /// Releases it: now if that needs no waiting, otherwise by what this returns.
    pub(super) fn begin_release(mut self) -> Release {
        match self.hold.take() {
            Some(hold) if H::AT_ONCE => Release::Over(at_once(hold)),
            Some(hold) => Release::Begun(self.releases.begin(hold, |released| released)),
            None => Release::Over(Ok(())),
        }
    }

    fn hold(&self) -> &H {
        self.hold
            .as_ref()
            .expect("a hold is there until it is taken out by value")
    }
}

impl<H: Hold> Hold for Owned<H> {
    const QUIET: bool = H::QUIET;

    fn token(&self) -> Option<Token> {
        self.hold().token()
    }

    fn lost(&self) -> Lost {
        self.hold().lost()
    }

    fn valid_until(&self) -> Option<Instant> {
        self.hold().valid_until()
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        self.hold().descriptors()
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        self.hold
            .as_mut()
            .expect("a hold is there until it is taken out by value")
            .upgrade(deadline)
            .await
    }

    async fn release(self) -> Result<()> {
        self.begin_release().end().await
    }
}

/// A release: over, or under way.
pub(super) enum Release {
    Over(Result<()>),
    Begun(Shield<Result<()>>),
}

impl Release {
    /// Waits until it is over.
    pub(super) async fn end(self) -> Result<()> {
        match self {
            Self::Over(released) => released,
            Self::Begun(release) => release.await,
        }
    }
}

impl<H: Hold> Drop for Owned<H> {
    fn drop(&mut self) {
        let Some(hold) = self.hold.take() else { return };
        if H::AT_ONCE {
            return report(at_once(hold));
        }
        let mut release = self.releases.begin(hold, report);
        if keeper::is_out_of_reach() {
            keeper::spawn(release);
            return;
        }
        // If this one poll does not finish it, dropping the shield sends it to the keeper.
        let _ = Pin::new(&mut release).poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// Releases what needs no waiting.
fn at_once<H: Hold>(hold: H) -> Result<()> {
    match pin!(hold.release()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(released) => released,
        Poll::Pending => {
            let message = "a release that says it needs no waiting waits: report it";
            Err(Error::new(ErrorKind::Unexpected, message))
        }
    }
}

fn report(released: Result<()>) {
    if let Err(error) = released {
        tracing::warn!(%error, "a dropped lock could not be released");
    }
}

/// Counts releases under way, so that somebody can wait for them.
#[derive(Clone, Debug, Default)]
pub struct Releases(TaskTracker);

impl Releases {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until no release is under way, nor a try that may need one.
    ///
    /// # Cancel safety
    /// Dropping this stops the waiting, nothing else.
    pub async fn settled(&self) {
        self.0.close();
        self.0.wait().await;
    }

    /// Counts what may become a grant, until dropped.
    pub(super) fn count(&self) -> TaskTrackerToken {
        self.0.token()
    }

    /// Releases `hold`, shielded: dropping this does not abandon a release that was half sent.
    fn begin<H: Hold, T: Send + 'static>(
        &self,
        hold: H,
        then: impl FnOnce(Result<()>) -> T + Send + 'static,
    ) -> Shield<T> {
        let counted = self.count();
        // Not by an async block, which would carry the release twice (rust-lang/rust#62958).
        let release = hold.release().map(move |released| {
            drop(counted);
            then(released)
        });
        Shield::of(release, H::QUIET)
    }
}
