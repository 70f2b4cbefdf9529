//! One at a time for each instance: on one node by a mutex, on many by a lock.

use crate::clock::lock;
use lockwork_core::workflow::{Answer, Error, ErrorKind, InstanceId};
use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// Whoever has it may work on the instance. Given back when the last clone of its `Arc` is dropped.
pub trait Turn: fmt::Debug + Send + Sync {
    /// Ends when it is not true any more: somebody else may work on the instance.
    fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

    /// Whether [`lost`](Self::lost) has ended.
    fn is_lost(&self) -> bool;

    /// A number that rises with each turn of the instance, if whoever gives turns can count.
    fn token(&self) -> Option<u64> {
        None
    }
}

/// Gives turns.
pub trait Turns: fmt::Debug + Send + Sync {
    /// Waits for a turn.
    ///
    /// # Errors
    /// [`Busy`](ErrorKind::Busy) if it takes too long.
    fn take<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Arc<dyn Turn>>;
}

/// Turns in this process.
#[derive(Debug)]
pub(crate) struct LocalTurns {
    patience: Duration,
    queues: Mutex<HashMap<InstanceId, Weak<Queue<()>>>>,
}

impl LocalTurns {
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            patience,
            queues: Mutex::default(),
        }
    }

    fn queue(&self, instance: &InstanceId) -> Arc<Queue<()>> {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get(instance).and_then(Weak::upgrade) {
            return queue;
        }
        // Those nobody waits for any more are left behind; now and then they are swept up.
        if queues.len() >= 1024 && queues.len() == queues.capacity() {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        let queue = Arc::new(Queue::new(()));
        queues.insert(instance.clone(), Arc::downgrade(&queue));
        queue
    }
}

impl Turns for LocalTurns {
    fn take<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Arc<dyn Turn>> {
        Box::pin(async move {
            let queue = self.queue(instance);
            if let Ok(guard) = Arc::clone(&queue).try_lock_owned() {
                return Ok(Arc::new(LocalTurn(guard)) as Arc<dyn Turn>);
            }
            let waited = tokio::time::timeout(self.patience, queue.lock_owned()).await;
            let guard = waited.map_err(|_| {
                let message =
                    "this node works on the instance, and did not finish in time: try again later";
                Error::new(ErrorKind::Busy, message).with("instance", instance)
            })?;
            Ok(Arc::new(LocalTurn(guard)) as Arc<dyn Turn>)
        })
    }
}

#[derive(Debug)]
struct LocalTurn(#[expect(dead_code, reason = "held, and never looked at")] OwnedMutexGuard<()>);

impl Turn for LocalTurn {
    fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(std::future::pending())
    }

    fn is_lost(&self) -> bool {
        false
    }
}
