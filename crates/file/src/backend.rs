//! The backend: asking, waiting, and what an operator may want to know.

use crate::{
    Options,
    attempt::{Effort, Outcome, PACE, Pause, Refusal},
    breaking, collect, disk, doctor,
    hold::FileHold,
    holders,
    place::Place,
};
use lockwork_core::lock::{
    Capability, Guarantee, Held, Holders, Info, Instant, LockId, Report, Request, Result, Scope,
    backend::{Attempt, Backend, Listener, Owned, Shield, try_each, wait_for_grant},
};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// What locks in a directory are and can do.
pub const INFO: Info = Info::new("file", Scope::Host, Guarantee::Process, Capability::all());

/// Locks in a directory, for all processes of this machine.
///
/// ```
/// use lockwork_core::lock::Locks;
/// use lockwork_file::Files;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("locks");
/// let locks = Locks::new(Files::open(path)?);
/// let guard = locks.mutex("nightly-report").lock().await?;
/// # guard.release().await }
/// ```
#[derive(Clone, Debug)]
pub struct Files(Arc<Place>);

impl Files {
    /// Opens the directory `path`, making it if only its last part is missing.
    ///
    /// # Errors
    /// As [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// How to open a directory otherwise than usual.
    #[must_use]
    pub const fn options() -> Options {
        Options::new()
    }

    pub(crate) const fn of(place: Arc<Place>) -> Self {
        Self(place)
    }

    /// Waits for what was not free.
    async fn wait(
        &self,
        effort: Effort,
        listener: Listener,
        request: &Request,
    ) -> Result<Option<FileHold>> {
        let effort = Arc::new(Mutex::new(effort));
        let attempt = || {
            let effort = effort.clone();
            async move { again(&effort).await }
        };
        let listener = Some(listener);
        let granted = wait_for_grant(request.deadline, PACE, listener, &request.releases, attempt);
        Ok(granted.await?.map(Owned::into_inner))
    }
}

/// One try of somebody who waits.
async fn again(effort: &Mutex<Effort>) -> Result<Attempt<FileHold>> {
    let busy = |effort: &mut Effort, pause| Attempt::Busy {
        again_in: Some(effort.longest(pause)),
    };
    let tried = {
        // Nothing that can panic runs under this lock.
        let mut effort = effort.lock().unwrap_or_else(PoisonError::into_inner);
        match effort.attempt_again()? {
            Outcome::Granted(hold) => Ok(hold),
            Outcome::Unsynced(hold) => Err(hold),
            Outcome::Refused(Refusal::Busy(pause)) => return Ok(busy(&mut effort, pause)),
            Outcome::Refused(Refusal::GaveWay) => return Ok(busy(&mut effort, Pause::AMoment)),
        }
    };
    match tried {
        Ok(hold) => Ok(Attempt::Granted(hold)),
        Err(unsynced) => Ok(Attempt::Granted(synced(unsynced).await?)),
    }
}

/// Waits until the record of `hold` is on the disk.
async fn synced(hold: FileHold) -> Result<FileHold> {
    disk::wait(move || hold.sync().map(|()| hold)).await
}

/// How long a newcomer stays away from what it leaves to somebody else: long enough for a process
/// that sleeps to wake up.
const WAY: Duration = Duration::from_millis(2);
/// The same where nobody is told: longer than who waits there goes without looking.
const WAY_UNTOLD: Duration = Duration::from_millis(60);

/// How long somebody who passes may take.
const PASSING: Duration = Duration::from_millis(100);

impl Backend for Files {
    type Hold = FileHold;

    fn info(&self) -> Info {
        INFO
    }

    async fn acquire(&self, request: Request) -> Result<Option<FileHold>> {
        let mut effort = Effort::new(self.0.clone(), &request);
        let mut outcome = effort.attempt()?;
        if outcome.is_not_yet() {
            // Somebody is just passing: that is no answer yet, whatever the deadline.
            let start = Instant::now();
            while outcome.is_not_yet() && start.elapsed() < PASSING {
                tokio::time::sleep(PACE.least).await;
                outcome = effort.attempt()?;
            }
        }
        let gave_way = match outcome {
            Outcome::Granted(hold) => return Ok(Some(hold)),
            Outcome::Unsynced(hold) => {
                let releases = request.releases.clone();
                let synced = async move { Ok(Owned::new(synced(hold).await?, releases)) };
                return Shield::new(synced)
                    .await
                    .map(|hold| Some(hold.into_inner()));
            }
            Outcome::Refused(_) if request.deadline.has_passed() => return Ok(None),
            Outcome::Refused(refusal) => refusal == Refusal::GaveWay,
        };
        let mut listener = self.0.hints.listen(&request.id());
        if gave_way {
            let way = if self.0.is_told() { WAY } else { WAY_UNTOLD };
            let told = tokio::time::timeout(way, listener.hinted());
            let _ = request.deadline.wait_for(told).await;
        }
        Box::pin(self.wait(effort, listener, &request)).await
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<FileHold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let (place, id) = (self.0.clone(), id.clone());
        disk::wait(move || holders::of(&place, &id)).await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let (place, beginning) = (self.0.clone(), beginning.to_owned());
        disk::wait(move || holders::all(&place, &beginning)).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let (place, id) = (self.0.clone(), id.clone());
        disk::wait(move || breaking::break_lock(&place, &id)).await
    }

    async fn doctor(&self) -> Result<Report> {
        let place = self.0.clone();
        disk::wait(move || doctor::look(&place)).await
    }

    async fn collect(&self, idle: Duration) -> Result<usize> {
        let place = self.0.clone();
        disk::wait(move || collect::sweep(&place, idle)).await
    }
}
