//! The keeper thread: lockwork's own, so that a blocked, busy or ended user runtime cannot starve
//! a renewal or lose a release.
//!
//! One thread per process, started on first use, with a current-thread tokio runtime. What runs
//! here must never block. A process that forks without `exec` afterwards has no keeper in the
//! child, as it has no other thread there either.

use std::{cell::Cell, future::pending, sync::OnceLock, thread};
use tokio::{
    runtime::{Builder, EnterGuard, Handle, Id},
    task::JoinHandle,
};

thread_local! {
    /// On whose behalf this thread has entered the keeper, while it has.
    static CALLER: Cell<Option<Id>> = const { Cell::new(None) };
}

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

/// The runtime whose task runs here: that of whoever polls a [`Shield`](super::Shield), not the
/// keeper's that the shield enters. `None` outside of all runtimes.
///
/// A runtime that polls somebody right now is alive, and drives what was spawned on it.
#[must_use]
pub fn caller() -> Option<Id> {
    let entered = CALLER.try_with(Cell::get).ok().flatten();
    entered.or_else(|| Some(Handle::try_current().ok()?.id()))
}

/// Enters the keeper, and remembers on whose behalf; `None` inside of what has done so already, as one
/// shield is in another.
pub(super) fn enter_for_caller() -> Option<Entered> {
    let is_entered = CALLER.try_with(|cell| cell.get().is_some());
    if is_entered.unwrap_or_default() {
        return None;
    }
    let caller = caller();
    // Where the thread is at its end nobody asks any more.
    let _ = CALLER.try_with(|cell| cell.set(caller));
    Some(Entered { _entered: enter() })
}

/// The keeper has been entered, until this is dropped.
pub(super) struct Entered {
    _entered: EnterGuard<'static>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = CALLER.try_with(|cell| cell.set(None));
    }
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
