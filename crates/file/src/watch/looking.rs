//! Where nobody tells: a thread that only looks.

use super::rounds;
use std::{sync::OnceLock, thread, time::Duration};

/// How long the thread sleeps while there is nothing to look at.
const LONG: Duration = Duration::from_secs(3600);

/// Starts the thread that looks, or wakes it up.
pub(super) fn start() {
    static LOOKING: OnceLock<Option<thread::Thread>> = OnceLock::new();
    let looking = LOOKING.get_or_init(|| {
        let spawned = thread::Builder::new().name("lockwork-file".into());
        let spawned = spawned.spawn(|| {
            let mut rounds = rounds::begin();
            loop {
                thread::park_timeout(rounds.go().unwrap_or(LONG));
            }
        });
        match spawned {
            Ok(handle) => Some(handle.thread().clone()),
            Err(error) => {
                tracing::error!(%error, "losses of file locks go unnoticed: raise the limit of processes");
                None
            }
        }
    });
    if let Some(looking) = looking {
        looking.unpark();
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use nobody_tells::*;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod nobody_tells {
    //! What a system that tells would do.

    use crate::place::Place;
    use lockwork_core::lock::{LockId, backend::Hints};
    use std::{path::Path, sync::Arc};

    #[derive(Debug)]
    pub(crate) enum Watch {}

    pub(crate) fn directory(_: &Arc<Place>) -> Option<Watch> {
        None
    }

    pub(crate) fn file(_: &Path, _: &Hints, _: &LockId) -> Option<Watch> {
        None
    }

    pub(crate) fn wake() -> bool {
        false
    }
}
