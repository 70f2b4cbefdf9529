//! The keeper thread: lockwork's own, so that a blocked, busy or ended user runtime cannot starve
//! a renewal or lose a release.
//!
//! One thread per process, started on first use, with a current-thread tokio runtime. What runs
//! here must never block. A process that forks without `exec` afterwards has no keeper in the
//! child, as it has no other thread there either.

use std::{future::pending, sync::OnceLock, thread};
use tokio::{
    runtime::{Builder, EnterGuard, Handle},
    task::JoinHandle,
};

/// Runs `work` on the keeper thread.
///
/// # Panics
/// On first use, if the system refuses a thread.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    handle().spawn(work)
}

/// Lets the current thread create timers and sockets that the keeper thread drives.
pub fn enter() -> EnterGuard<'static> {
    handle().enter()
}

/// Whether the current thread is so near its end that it cannot [`enter`]: its thread-locals are
/// being destroyed. It can still [`spawn`].
pub(super) fn is_out_of_reach() -> bool {
    Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed())
}

/// How many tasks live on the keeper thread. For tests and diagnosis.
#[must_use]
pub fn tasks() -> usize {
    handle().metrics().num_alive_tasks()
}

fn handle() -> &'static Handle {
    static KEEPER: OnceLock<Handle> = OnceLock::new();
    KEEPER.get_or_init(start)
}

fn start() -> Handle {
    let runtime = Builder::new_current_thread().enable_all().build().expect(
        "the keeper thread needs an event queue of the system: raise the limit of open files",
    );
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("lockwork-keeper".into())
        .spawn(move || runtime.block_on(pending::<()>()))
        .expect("the keeper thread needs one thread of the system: raise the limit of processes");
    handle
}
