//! Release on drop: wherever a hold is dropped, and whatever becomes of who waited for it.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{
    block_on,
    hold::{FakeHold, Grants, Ledger},
    leases::{LeaseBackend, Leases},
    ms, poll_once, within, within_thread,
};
use lockwork_core::lock::{
    AnyBackend, Backend, Deadline, ErrorKind, Hold, Locks, Memory, Mode, Name, Request,
    backend::{Owned, Releases, try_each},
};
use std::{
    cell::RefCell,
    pin::pin,
    process::Command,
    sync::{Arc, LazyLock},
    thread,
};
use tokio::runtime::{Builder, Runtime};

fn request(name: &str) -> Request {
    Request::new(Name::new(name).unwrap(), Mode::Exclusive, Deadline::Now)
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn a_release_that_needs_no_waiting_happens_in_the_drop() {
    within_thread(ms(5000), || {
        let ledger = Ledger::default();
        drop(Owned::new(ledger.hold(), Releases::new()));
        assert_eq!(ledger.released.get(), 1);
    });
}

#[test]
fn a_hold_dropped_on_a_thread_without_a_runtime_is_released() {
    within_thread(ms(5000), || {
        let ledger = Ledger::default();
        ledger.release.close();
        let hold = Owned::new(ledger.hold(), Releases::new());
        thread::spawn(move || drop(hold)).join().unwrap();
        assert_eq!((ledger.release.arrived(), ledger.released.get()), (1, 0));
        ledger.release.open();
        block_on(ledger.released.reached(1));
    });
}

/// In a process of its own, because a panic while a thread ends would end the process.
#[test]
fn a_hold_left_in_a_thread_local_is_released_when_its_thread_ends() {
    const NAME: &str = "a_hold_left_in_a_thread_local_is_released_when_its_thread_ends";
    const CHILD: &str = "LOCKWORK_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return leave_holds_in_a_thread_local();
    }
    within_thread(ms(10_000), || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", NAME]).env(CHILD, "1").output();
        let child = child.unwrap();
        assert!(child.status.success(), "{child:?}");
    });
}

fn leave_holds_in_a_thread_local() {
    thread_local! {
        static LEFT: RefCell<Vec<Owned<FakeHold>>> = const { RefCell::new(Vec::new()) };
    }
    let (at_once, later) = (Ledger::default(), Ledger::default());
    later.release.close();
    let (one, two) = (at_once.hold(), later.hold());
    thread::spawn(move || {
        // Thread locals end in the reverse order of their first use: the runtime's are gone first.
        LEFT.with_borrow_mut(Vec::clear);
        block_on(async {});
        let owned = |hold| Owned::new(hold, Releases::new());
        LEFT.with_borrow_mut(|left| left.extend([owned(one), owned(two)]));
    })
    .join()
    .unwrap();
    block_on(within(ms(5000), at_once.released.reached(1)));
    later.release.open();
    block_on(within(ms(5000), later.released.reached(1)));
}

#[test]
fn a_release_that_needs_a_timer_needs_no_runtime() {
    within_thread(ms(5000), || {
        let ledger = Ledger::slow(ms(10));
        let hold = Owned::new(ledger.hold(), Releases::new());
        thread::spawn(move || drop(hold)).join().unwrap();
        block_on(ledger.released.reached(1));
    });
}

#[tokio::test]
async fn a_release_that_nobody_waits_for_any_more_still_arrives() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        ledger.release.close();
        let mut release = Box::pin(Owned::new(ledger.hold(), Releases::new()).release());
        assert!(poll_once(&mut release).is_pending());
        drop(release);
        ledger.release.open();
        ledger.released.reached(1).await;
        assert_eq!(ledger.release.arrived(), 1, "it was begun once");
    })
    .await;
}

#[tokio::test]
async fn a_release_that_was_not_even_begun_still_arrives() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let release = Owned::new(ledger.hold(), Releases::new()).release();
        assert_eq!(ledger.released.get(), 0);
        drop(release);
        ledger.released.reached(1).await;
    })
    .await;
}

#[tokio::test]
async fn a_release_reports_what_the_server_said() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        ledger.fail();
        let released = Owned::new(ledger.hold(), Releases::new()).release().await;
        assert_eq!(released.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(
            ledger.released.get(),
            1,
            "and is not tried again by the drop"
        );
    })
    .await;
}

#[test]
fn a_release_that_fails_on_drop_does_not_panic() {
    within_thread(ms(5000), || {
        let (ledger, releases) = (Ledger::default(), Releases::new());
        ledger.fail();
        drop(Owned::new(ledger.hold(), releases.clone()));
        ledger.release.close();
        drop(Owned::new(ledger.hold(), releases.clone()));
        ledger.release.open();
        block_on(releases.settled());
        assert_eq!(ledger.released.get(), 2);
    });
}

#[tokio::test]
async fn a_hold_that_was_taken_out_is_its_takers_to_release() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let hold = Owned::new(ledger.hold(), Releases::new()).into_inner();
        assert_eq!(ledger.release.arrived(), 0);
        hold.release().await.unwrap();
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn releases_are_settled_when_the_last_of_them_is_over() {
    within(ms(5000), async {
        let (ledger, releases) = (Ledger::default(), Releases::new());
        releases.settled().await; // there is none
        ledger.release.close();
        drop(Owned::new(ledger.hold(), releases.clone()));
        let mut settled = pin!(releases.settled());
        assert!(poll_once(&mut settled).is_pending());
        ledger.release.open();
        settled.await;
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_hold_whose_type_was_forgotten_is_released_on_drop() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let backend = AnyBackend::new(Grants(ledger.clone()));
        drop(backend.acquire(request("a")).await.unwrap());
        assert_eq!(ledger.released.get(), 1);
        let both = backend.acquire_all(vec![request("a"), request("b")]).await;
        drop(both.unwrap());
        assert_eq!(ledger.released.get(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_hold_whose_type_was_forgotten_is_released_once() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let backend = AnyBackend::new(Grants(ledger.clone()));
        let hold = backend.acquire(request("a")).await.unwrap().unwrap();
        hold.release().await.unwrap();
        assert_eq!(ledger.release.arrived(), 1);
    })
    .await;
}

#[tokio::test]
async fn closing_waits_for_the_release_that_a_dropped_guard_began() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let locks = Locks::new(Grants(ledger.clone()));
        let guard = locks.mutex("a").lock().await.unwrap();
        ledger.release.close();
        drop(guard);
        ledger.release.reached(1).await;
        let mut close = pin!(locks.close());
        assert!(poll_once(&mut close).is_pending());
        ledger.release.open();
        close.await;
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn closing_waits_for_a_release_whose_caller_has_left() {
    within(ms(5000), async {
        let ledger = Ledger::default();
        let locks = Locks::new(Grants(ledger.clone()));
        let guard = locks.mutex("a").lock().await.unwrap();
        ledger.release.close();
        let mut release = Box::pin(guard.release());
        assert!(poll_once(&mut release).is_pending());
        drop(release);
        let mut close = pin!(locks.close());
        assert!(poll_once(&mut close).is_pending());
        ledger.release.open();
        close.await;
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn closing_waits_for_an_attempt_whose_caller_has_left() {
    within(ms(5000), async {
        let server = Leases::answering([]);
        let locks = Locks::new(LeaseBackend::new(server.clone(), ms(1000)));
        server.take.close();
        let mutex = locks.mutex("a");
        let mut asking = Box::pin(mutex.lock());
        assert!(poll_once(&mut asking).is_pending());
        drop(asking);
        let mut close = pin!(locks.close());
        assert!(poll_once(&mut close).is_pending());
        server.take.open();
        close.await;
        assert_eq!(server.surrenders.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn several_at_once_are_given_back_when_one_is_refused() {
    within(ms(5000), async {
        let memory = Memory::new();
        let other = memory.acquire(request("c")).await.unwrap();
        let requests = ["a", "b", "c"].map(request).to_vec();
        let none = try_each(&memory, requests).await.unwrap();
        assert!(none.is_none());
        assert_eq!(memory.len(), 1, "only what the other holds");
        other.unwrap().release().await.unwrap();
        let requests = ["a", "b", "c"].map(request).to_vec();
        let all = try_each(&memory, requests).await.unwrap();
        assert_eq!(all.unwrap().len(), 3);
        assert_eq!(memory.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn several_at_once_are_not_tried_again_where_one_may_still_be_on_its_way_back() {
    within(ms(5000), async {
        let server = Leases::answering([]);
        let backend = LeaseBackend::new(server.clone(), ms(200));
        let other = backend.acquire(request("b")).await.unwrap();
        server.surrender.close();
        let requests = ["a", "b"].map(request).to_vec();
        let error = try_each(&backend, requests).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(!error.is_transient(), "a retry has the same owner");
        server.surrender.open();
        other.unwrap().release().await.unwrap();
        server.surrenders.reached(2).await;
    })
    .await;
}

/// What a program does with locks that live longer than its runtimes.
fn use_from_two_runtimes(locks: &'static Locks) {
    let first = runtime();
    let guard = first.block_on(locks.mutex("kept").lock()).unwrap();
    let dropped = first.block_on(locks.mutex("dropped").lock()).unwrap();
    let mutex = locks.mutex("kept");
    let mut waiting = Box::pin(mutex.lock());
    assert!(first.block_on(async { poll_once(&mut waiting).is_pending() }));
    drop(first);
    drop((dropped, waiting));

    // Longer than a lease, with no runtime of ours at all.
    thread::sleep(ms(400));
    let second = runtime();
    assert!(guard.is_valid());
    second.block_on(async {
        let again = locks.mutex("kept").try_lock().await.unwrap();
        assert!(again.is_none(), "it is held, and nobody is left in line");
        guard.release().await.unwrap();
        let again = locks.mutex("kept").lock().await.unwrap();
        let other = locks.mutex("dropped").lock().await.unwrap();
        assert!(again.is_valid() && other.is_valid());
        drop((again, other));
        locks.close().await;
    });
}

#[test]
fn locks_in_memory_work_from_one_runtime_after_another() {
    static LOCKS: LazyLock<Locks> = LazyLock::new(|| Locks::new(Memory::new()));
    within_thread(ms(10_000), || use_from_two_runtimes(&LOCKS));
}

#[test]
fn locks_on_leases_work_from_one_runtime_after_another() {
    static SERVER: LazyLock<Arc<Leases>> = LazyLock::new(|| Leases::answering([]));
    static LOCKS: LazyLock<Locks> =
        LazyLock::new(|| Locks::new(LeaseBackend::new(SERVER.clone(), ms(300))));
    within_thread(ms(10_000), || use_from_two_runtimes(&LOCKS));
    assert_eq!(SERVER.surrenders.get(), 4);
}
