//! Wake-ups by way of other locks, for a backend whose server tells nobody when a lock is free.
//!
//! Whoever holds a mutex here also holds one there, its *bell*, in a backend that does tell. Whoever waits
//! here waits for the bell there, and asks here as soon as it has it: in the moment in which the holder
//! lets go of both. Bells exclude nobody. One that is lost, late or not to be had costs the wait for the
//! next try, and nothing else.

use super::{Hints, Listener, keeper};
use crate::lock::{Guard, LockId, Locks, Name, OwnerId, Space, Wait, backend::lease::Verdict};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::task::AbortHandle;

/// Who holds and who waits for the bells of one client. Clones share them.
#[derive(Clone)]
pub struct Wake(Arc<Inner>);

struct Inner {
    bells: Locks,
    hints: Hints,
    /// Of each owner that holds its lock here, or waits for it.
    held: Mutex<HashMap<OwnerId, Bell>>,
}

enum Bell {
    /// A task is at it, until it has the bell or is stopped.
    AskedFor(AbortHandle),
    /// Given back when dropped.
    Held { _bell: Guard },
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Self::AskedFor(task) = self {
            task.abort();
        }
    }
}

impl Wake {
    /// Bells are mutexes of `bells`, each named `wake/` and as the lock it is for.
    #[must_use]
    pub fn new(bells: Locks) -> Self {
        Self(Arc::new(Inner {
            bells,
            hints: Hints::new(),
            held: Mutex::default(),
        }))
    }

    /// Hears when to ask again for `id`.
    #[must_use]
    pub fn listen(&self, id: &LockId) -> Listener {
        self.0.hints.listen_later(id)
    }

    /// What the server said to a try of `owner`, who waits on or does not.
    pub fn told(&self, id: &LockId, owner: OwnerId, verdict: &Verdict, waits: bool) {
        if id.space != Space::Mutex {
            return;
        }
        match verdict {
            Verdict::Granted(_) => self.hold(id, owner),
            Verdict::Busy(_) if waits => self.wait(id, owner),
            Verdict::Busy(_) | Verdict::Buried => drop(self.forget(owner)),
        }
    }

    /// `owner` does not wait any more.
    pub fn left(&self, owner: OwnerId) {
        drop(self.forget(owner));
    }

    /// `owner` has given its lock back: whoever has waited for the bell longest is told.
    pub fn released(&self, owner: OwnerId) {
        drop(self.forget(owner));
    }

    /// Whoever waited may have the bell already. Otherwise it is taken if it is free: where another has it,
    /// who waits just now, that one asks again by itself.
    fn hold(&self, id: &LockId, owner: OwnerId) {
        let mut held = self.held();
        if !matches!(held.get(&owner), Some(Bell::Held { .. })) {
            let asked = self.ask(id, owner, Wait::No);
            let before = asked.and_then(|bell| held.insert(owner, bell));
            drop(held);
            drop(before);
        }
    }

    /// Whoever has the bell and not the lock lets others have it, and waits for it again after the next
    /// refusal: the holder here may have none.
    fn wait(&self, id: &LockId, owner: OwnerId) {
        let mut held = self.held();
        let before = match held.get(&owner) {
            Some(Bell::AskedFor(_)) => None,
            Some(Bell::Held { .. }) => held.remove(&owner),
            None => {
                let asked = self.ask(id, owner, Wait::Forever);
                asked.and_then(|bell| held.insert(owner, bell))
            }
        };
        drop(held);
        drop(before);
    }

    /// `None` for a name that is too long to have a bell.
    fn ask(&self, id: &LockId, owner: OwnerId, wait: Wait) -> Option<Bell> {
        let name = Name::new(&format!("wake/{}", id.name)).ok()?;
        let (inner, id) = (self.0.clone(), id.clone());
        let task = keeper::spawn(async move {
            let bell = inner.bells.mutex(name);
            let got = match wait {
                Wait::No => bell.try_lock().await,
                _ => bell.lock().await.map(Some),
            };
            match got {
                Ok(Some(guard)) => inner.got(&id, owner, guard),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, lock = %id, "nobody is told of a lock"),
            }
        });
        Some(Bell::AskedFor(task.abort_handle()))
    }

    fn forget(&self, owner: OwnerId) -> Option<Bell> {
        self.held().remove(&owner)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<OwnerId, Bell>> {
        self.0.held()
    }
}

impl Inner {
    /// Keeps the bell for as long as its owner waits or holds, and tells it.
    fn got(&self, id: &LockId, owner: OwnerId, guard: Guard) {
        let mut held = self.held();
        let before = match held.get_mut(&owner) {
            Some(bell) => Some(std::mem::replace(bell, Bell::Held { _bell: guard })),
            None => Some(Bell::Held { _bell: guard }),
        };
        drop(held);
        drop(before);
        self.hints.hint(id);
    }

    fn held(&self) -> MutexGuard<'_, HashMap<OwnerId, Bell>> {
        // Nothing that can panic runs under this lock.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wake")
            .field("bells", &self.0.bells)
            .finish_non_exhaustive()
    }
}
