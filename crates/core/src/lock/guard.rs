//! A held lock, as its owner sees it.

use super::{
    Deadline, Error, ErrorKind, Instant, Loss, Lost, Mode, Name, Result, Token, Wait,
    max_hold::Grip,
};
use std::{
    future::{Future, IntoFuture, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

/// A held lock. Dropping it releases the lock in the background; [`Guard::release`] does so and
/// reports.
///
/// The guard turns itself off: [`Guard::is_valid`] is false from [`Guard::valid_until`] on, which
/// is before the server would give the lock to somebody else by itself, whether or not anybody
/// could tell us. A lock that is [broken](super::Mutex::break_lock), or whose connection the server
/// ends, is gone at once; the guard notices as soon as it is told. Work that must stop when the
/// lock is lost runs inside [`Guard::run`].
///
/// A guard cannot be used after its release:
///
/// ```compile_fail
/// # async fn after(guard: lockwork_core::lock::Guard) -> lockwork_core::lock::Result<()> {
/// guard.release().await?;
/// guard.is_valid(); // moved by `release`
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "the lock is released as soon as its guard is dropped"]
#[clippy::has_significant_drop]
pub struct Guard {
    grip: Grip,
    name: Name,
    mode: Mode,
}

impl Guard {
    pub(super) const fn new(grip: Grip, name: Name, mode: Mode) -> Self {
        Self { grip, name, mode }
    }

    /// The name it was asked for by.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// How it is held; after an [upgrade](Guard::upgrade), [`Mode::Write`].
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The fencing token: there for exclusive, write and upgraded grants of backends that have
    /// tokens, and rising with each of a name. Readers and permits may have none.
    #[must_use]
    pub fn token(&self) -> Option<Token> {
        self.grip.token()
    }

    /// Until when this is good if nothing more is heard from the server. Moves on with each
    /// renewal. `None` where a grant needs no news.
    #[must_use]
    pub fn valid_until(&self) -> Option<Instant> {
        self.grip.valid_until()
    }

    /// Whether the lock is still ours, by our own clock. Costs no round trip.
    ///
    /// True means: nobody else had a valid guard when this was computed. A process may be frozen
    /// between this answer and the next instruction; only a [token](Guard::token) checked by what
    /// the lock protects covers that.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.loss().is_none()
    }

    /// Resolves if the lock is lost, at the latest at [`Guard::valid_until`]. Never by a release.
    #[must_use]
    pub fn lost(&self) -> Lost {
        self.grip.lost()
    }

    /// Duplicates of the descriptors the grant rests on: one or two for file locks, none elsewhere.
    ///
    /// The lock stays taken for as long as any process has one of them open, even after this one
    /// was killed, until it is [released](Guard::release). So a child that inherits them keeps the
    /// lock while it lives. They close themselves on `exec` until told otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] when the system gives no more descriptors.
    #[cfg(unix)]
    pub fn descriptors(&self) -> Result<Vec<std::os::fd::OwnedFd>> {
        self.grip.descriptors().map_err(|error| {
            let message = "no more descriptors: raise the limit of open files";
            Error::new(ErrorKind::Unavailable, message).because(error)
        })
    }

    /// Runs `work` for as long as the lock is ours, and drops it when it is lost.
    ///
    /// Validity is asked each time before `work` is polled, so work that was frozen with its
    /// process does not take one step more.
    ///
    /// # Errors
    /// [`ErrorKind::Lost`] if the lock was lost before `work` ended.
    ///
    /// # Cancel safety
    /// Dropping this drops `work`; the lock stays held.
    pub async fn run<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T> {
        run(|| self.loss(), self.lost(), work).await
    }

    /// Makes an upgradeable reader the writer, waiting for the other readers to leave. New readers
    /// of this process are kept out meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if this guard is not an upgradeable reader (any more),
    /// [`ErrorKind::Lost`] if it was lost before or meanwhile, or what the server has to say.
    ///
    /// # Cancel safety
    /// When this fails or is dropped half way, the guard is an upgradeable reader as before, or it
    /// is lost, and says so.
    pub async fn upgrade(&mut self) -> Result<()> {
        match self.upgrade_by(Deadline::Never).await? {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Unexpected,
                "the backend gave an upgrade up that had no time limit: report it",
            )),
        }
    }

    /// Makes an upgradeable reader the writer if no other reader is in; says whether it did.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`Guard::upgrade`].
    pub async fn try_upgrade(&mut self) -> Result<bool> {
        self.upgrade_by(Deadline::Now).await
    }

    /// Makes an upgradeable reader the writer, waiting for at most `limit`; says whether it did.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`Guard::upgrade`].
    pub async fn try_upgrade_for(&mut self, limit: Duration) -> Result<bool> {
        self.upgrade_by(Wait::For(limit).deadline()).await
    }

    /// Releases the lock and waits until the server has heard of it.
    ///
    /// # Errors
    /// [`ErrorKind::Lost`] if the lock had been lost before: the protected work may not have been
    /// alone. Any other error says that the server may believe the lock held for a while yet.
    ///
    /// # Cancel safety
    /// Dropping this stops the waiting, not the release.
    pub async fn release(self) -> Result<()> {
        let loss = self.loss();
        let released = self.grip.release().await;
        match loss {
            Some(loss) => Err(loss.into()),
            None => released,
        }
    }

    /// The loss, if it has happened, whether or not anybody was told.
    pub(super) fn loss(&self) -> Option<Loss> {
        self.grip.loss()
    }

    async fn upgrade_by(&mut self, deadline: Deadline) -> Result<bool> {
        if self.mode != Mode::Upgradeable {
            let message = "only an upgradeable reader can be upgraded, and only once";
            return Err(Error::new(ErrorKind::Invalid, message).with("mode", self.mode.as_str()));
        }
        if let Some(loss) = self.loss() {
            return Err(loss.into());
        }
        let upgraded = self.grip.upgrade(deadline).await?;
        if upgraded {
            self.mode = Mode::Write;
        }
        self.loss().map_or(Ok(upgraded), |loss| Err(loss.into()))
    }
}

/// Runs `work` until it ends, `loss` finds one, or `lost` tells of one.
pub(super) async fn run<T: Send>(
    loss: impl Fn() -> Option<Loss> + Send + Sync,
    lost: Lost,
    work: impl Future<Output = T> + Send,
) -> Result<T> {
    let mut lost = lost.into_future();
    let mut work = pin!(work);
    poll_fn(|cx| {
        if let Some(loss) = loss() {
            return Poll::Ready(Err(loss.into()));
        }
        if let Poll::Ready(loss) = Pin::new(&mut lost).poll(cx) {
            return Poll::Ready(Err(loss.into()));
        }
        // Lost during its last step, it may not have been alone.
        work.as_mut()
            .poll(cx)
            .map(|done| loss().map_or(Ok(done), |loss| Err(loss.into())))
    })
    .await
}
