//! What the tests of core share: time limits, turns, events to wait for, and fakes that do as
//! they are told.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod db;
pub(crate) mod events;
pub(crate) mod hold;
pub(crate) mod leases;
pub(crate) mod spy;

use events::Gate;
use lockwork_core::lock::{LockId, Name, Space};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};
use tokio::{runtime::Builder, sync::RwLock};

/// So many milliseconds.
pub(crate) const fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// The mutex called `name`.
pub(crate) fn mutex_id(name: &str) -> LockId {
    LockId::new(Space::Mutex, Name::new(name).expect("a test's name is one"))
}

/// What `work` yields, if it does so in time.
///
/// # Panics
/// If it does not.
pub(crate) async fn within<T: Send>(limit: Duration, work: impl Future<Output = T> + Send) -> T {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => panic!("this test did not end within {limit:?}"),
    }
}

/// The same on a plain thread: for work that builds runtimes of its own, or blocks.
///
/// # Panics
/// If it takes too long, or if `work` does.
pub(crate) fn within_thread<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, outcome) = std::sync::mpsc::channel();
    let worker = thread::spawn(move || {
        let result = work();
        let _ = done.send(());
        result
    });
    match outcome.recv_timeout(limit) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
            panic!("this test did not end within {limit:?}")
        }
        Ok(()) | Err(_) => worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Waits on a thread that has no runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a test may have a runtime")
        .block_on(work)
}

/// Takes one step.
pub(crate) fn poll_once<T>(work: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
    Pin::new(work).poll(&mut Context::from_waker(Waker::noop()))
}

/// Does something in the very moment in which `work` is woken, while whoever wakes it is still at
/// it: `act` gets what the next step of `work` brings. Nothing happens before `gate` is open.
///
/// # Panics
/// If `work` ends before, or is not woken within two seconds.
pub(crate) fn in_the_act<T, R>(
    gate: &Gate,
    work: &mut (impl Future<Output = T> + Unpin),
    act: impl FnOnce(Poll<T>) -> R,
) -> R {
    struct InTheAct(Mutex<(Sender<()>, Receiver<()>)>);
    impl Wake for InTheAct {
        fn wake(self: Arc<Self>) {
            if let Ok(ends) = self.0.lock() {
                let (woken, over) = &*ends;
                let _ = woken.send(());
                let _ = over.recv_timeout(ms(1000));
            }
        }
    }
    let ((woken, is_woken), (over, is_over)) = (channel(), channel());
    let waker = Waker::from(Arc::new(InTheAct(Mutex::new((woken, is_over)))));
    let mut cx = Context::from_waker(&waker);
    gate.close();
    assert!(Pin::new(&mut *work).poll(&mut cx).is_pending());
    gate.open();
    is_woken
        .recv_timeout(ms(2000))
        .expect("it was woken: not within 2 s");
    let acted = act(Pin::new(work).poll(&mut cx));
    drop(over);
    acted
}

/// All tests of a file share one keeper thread. Most run [beside](beside) others; one that counts
/// the keeper's tasks or takes its time away runs [alone].
static TURN: RwLock<()> = RwLock::const_new(());

/// A test that others may run beside, within `limit` of its beginning.
pub(crate) async fn beside<T: Send>(limit: Duration, work: impl Future<Output = T> + Send) -> T {
    let _turn = TURN.read().await;
    within(limit, work).await
}

/// A test that no other runs beside, within `limit` of its beginning.
pub(crate) async fn alone<T: Send>(limit: Duration, work: impl Future<Output = T> + Send) -> T {
    let _turn = TURN.write().await;
    within(limit, work).await
}

/// Waits for something that nobody tells of. Only for what has no event to wait for.
///
/// # Panics
/// If it does not come true within five seconds.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool + Send) {
    for _ in 0..5000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(ms(1)).await;
    }
    panic!("not within 5 s: {what}");
}
