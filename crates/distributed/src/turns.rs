//! One node at a time for each instance: `workflow-instance:{id}`.

use crate::{error::of_lock, options::DistributedOptions, releases::Releases};
use lockwork_core::{
    lock::{Guard, Locks, Token},
    workflow::{Answer, Error, ErrorKind, InstanceId, Result},
};
use lockwork_runtime::{Turn, Turns};
use std::{
    future::{Future, IntoFuture, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

/// Turns by a lock.
#[derive(Debug)]
pub(crate) struct LockTurns {
    /// Those that ask again.
    pub(crate) locks: Locks,
    pub(crate) options: Arc<DistributedOptions>,
    pub(crate) releases: Releases,
}

impl LockTurns {
    async fn lock(&self, instance: &InstanceId) -> Result<Arc<dyn Turn>> {
        let key = format!("workflow-instance:{instance}");
        let options = self.options.patiently();
        let guard = self.locks.mutex(&key).lock_with(options).await;
        let guard = guard.map_err(|error| of_lock(error, &key))?;
        let guard = guard.ok_or_else(|| {
            let message =
                "another node works on the instance, and did not finish in time: try again later";
            Error::new(ErrorKind::Busy, message).with("instance", instance)
        })?;
        Ok(Arc::new(LockTurn::new(guard, self.releases.clone())))
    }
}

impl Turns for LockTurns {
    fn take<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Arc<dyn Turn>> {
        Box::pin(self.lock(instance))
    }
}

/// The guard, until the turn is over.
type Shared = Arc<Mutex<Option<Guard>>>;

#[derive(Debug)]
struct LockTurn {
    guard: Shared,
    token: Option<u64>,
    releases: Releases,
}

impl LockTurn {
    fn new(guard: Guard, releases: Releases) -> Self {
        Self {
            token: guard.token().map(Token::get),
            guard: Arc::new(Mutex::new(Some(guard))),
            releases,
        }
    }
}

fn look(guard: &Shared) -> MutexGuard<'_, Option<Guard>> {
    guard.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_lost(guard: &Shared) -> bool {
    look(guard).as_ref().is_some_and(|guard| !guard.is_valid())
}

impl Turn for LockTurn {
    /// Asks the guard each time, besides being told: a process that was frozen with its guard takes no step before anybody
    /// could tell it.
    fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let lost = look(&self.guard).as_ref().map(Guard::lost);
        let mut told = lost.map(IntoFuture::into_future);
        let guard = Arc::clone(&self.guard);
        Box::pin(poll_fn(move |cx| {
            if is_lost(&guard) {
                return Poll::Ready(());
            }
            match &mut told {
                Some(told) => told.as_mut().poll(cx).map(drop),
                None => Poll::Pending,
            }
        }))
    }

    fn is_lost(&self) -> bool {
        is_lost(&self.guard)
    }

    fn token(&self) -> Option<u64> {
        self.token
    }
}

impl Drop for LockTurn {
    fn drop(&mut self) {
        if let Some(guard) = look(&self.guard).take() {
            self.releases.give_back(guard);
        }
    }
}
