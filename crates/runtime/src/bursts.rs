//! The bursts of this node: those that are under way can be told to stop, and a node that is about to end waits for
//! them.

use crate::clock::lock;
use lockwork_core::workflow::{Error, ErrorKind, InstanceId, Result};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// The bursts of this node.
#[derive(Debug)]
pub(crate) struct Bursts {
    permits: Semaphore,
    running: Mutex<HashMap<InstanceId, Arc<AtomicBool>>>,
    count: watch::Sender<usize>,
    /// Those under way, and those that wait for their turn.
    asked: watch::Sender<usize>,
    closed: watch::Sender<bool>,
}

/// A burst that was asked for, from then until it is over.
#[derive(Debug)]
pub(crate) struct Asked(watch::Sender<usize>);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.send_modify(|asked| *asked -= 1);
    }
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    bursts: &'a Bursts,
    instance: InstanceId,
    cancel: Arc<AtomicBool>,
    _permit: SemaphorePermit<'a>,
}

impl Bursts {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            permits: Semaphore::new(most),
            running: Mutex::default(),
            count: watch::Sender::new(0),
            asked: watch::Sender::new(0),
            closed: watch::Sender::new(false),
        }
    }

    /// One is asked for: a node that ends waits for it, whether it has begun or waits for its turn.
    pub(crate) fn ask(&self) -> Asked {
        self.asked.send_modify(|asked| *asked += 1);
        Asked(self.asked.clone())
    }

    /// Fails when none may begin any more.
    pub(crate) async fn closing(&self) -> Error {
        // It cannot fail: the sender is here.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
        stopping()
    }

    /// Begins one, as soon as there are not too many.
    pub(crate) async fn begin(&self, instance: &InstanceId) -> Result<Running<'_>> {
        let permit = self.permits.acquire().await.map_err(|_| stopping())?;
        let cancel = Arc::new(AtomicBool::new(false));
        lock(&self.running).insert(instance.clone(), Arc::clone(&cancel));
        self.count.send_modify(|count| *count += 1);
        Ok(Running {
            bursts: self,
            instance: instance.clone(),
            cancel,
            _permit: permit,
        })
    }

    /// From now on it cannot be told to end; whoever wants that waits for its turn. Says whether somebody did before.
    fn leave(&self, burst: &Running<'_>) -> bool {
        let mut running = lock(&self.running);
        let mine = running.get(&burst.instance);
        // It may have been followed by another one.
        if mine.is_some_and(|cancel| Arc::ptr_eq(cancel, &burst.cancel)) {
            running.remove(&burst.instance);
        }
        burst.is_cancelled()
    }

    /// Ends the burst of an instance at its next step. Says whether there is one.
    pub(crate) fn cancel(&self, instance: &InstanceId) -> bool {
        let running = lock(&self.running);
        let burst = running.get(instance);
        burst
            .inspect(|cancel| cancel.store(true, Ordering::Release))
            .is_some()
    }

    /// No burst takes another step, and none begins, until [opened](Self::open) again.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    pub(crate) fn open(&self) {
        self.closed.send_replace(false);
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        match self.is_closed() {
            true => Err(stopping()),
            false => Ok(()),
        }
    }

    /// How many are under way.
    pub(crate) fn count(&self) -> u32 {
        (*self.count.borrow()).try_into().unwrap_or(u32::MAX)
    }

    /// The instances of those that can be told to end.
    pub(crate) fn running(&self) -> Vec<InstanceId> {
        lock(&self.running).keys().cloned().collect()
    }

    /// Ends when none is under way, and none waits for its turn.
    pub(crate) async fn idle(&self) {
        // It cannot fail: the sender is here.
        let _ = self.asked.subscribe().wait_for(|asked| *asked == 0).await;
    }
}

fn stopping() -> Error {
    let message = "this node takes no work, because it is paused or about to end: ask another one";
    Error::new(ErrorKind::Stopping, message)
}

impl Running<'_> {
    pub(crate) const fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// It takes no more wishes to end. Says whether there was one.
    pub(crate) fn leave(&self) -> bool {
        self.bursts.leave(self)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Acquire)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.bursts.leave(self);
        self.bursts.count.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_burst_that_ends_is_not_taken_for_the_one_that_follows() {
        let (bursts, id) = (Bursts::new(2), InstanceId::drawn(1));
        let first = bursts.begin(&id).await.unwrap();
        let second = bursts.begin(&id).await.unwrap();
        drop(first);
        assert!(bursts.cancel(&id));
        assert!(second.is_cancelled());
        drop(second);
        assert!(!bursts.cancel(&id));
    }
}
