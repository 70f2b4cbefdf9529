//! What work inside a `Shield` may rely on: once begun it ends, wherever its caller is.

mod common;

use common::{
    block_on,
    events::{Count, Gate},
    hold::Ledger,
    ms, poll_once, within, within_thread,
};
use lockwork_core::lock::backend::{Owned, Releases, Shield};
use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
    thread,
};
use tokio::runtime::Builder;

#[tokio::test]
async fn work_that_its_caller_awaits_yields_to_it() {
    within(ms(5000), async {
        let here = thread::current().id();
        let worker = Shield::new(async { thread::current().id() }).await;
        assert_eq!(worker, here, "no thread hop while the caller stays");
    })
    .await;
}

#[tokio::test]
async fn work_that_was_begun_ends_after_its_caller_has_left() {
    within(ms(5000), async {
        let (gate, ended) = (Gate::closed(), Count::default());
        let mut shield = Shield::new({
            let (gate, ended) = (gate.clone(), ended.clone());
            async move {
                gate.pass().await;
                ended.add();
            }
        });
        assert!(poll_once(&mut shield).is_pending());
        drop(shield);
        assert_eq!(ended.get(), 0);
        gate.open();
        ended.reached(1).await;
    })
    .await;
}

#[tokio::test]
async fn work_that_was_begun_goes_on_on_the_keeper_thread() {
    within(ms(5000), async {
        let (gate, (told, hears)) = (Gate::closed(), tokio::sync::oneshot::channel());
        let mut shield = Shield::new({
            let gate = gate.clone();
            async move {
                gate.pass().await;
                let _ = told.send(thread::current().name().map(str::to_owned));
            }
        });
        assert!(poll_once(&mut shield).is_pending());
        drop(shield);
        gate.open();
        assert_eq!(hears.await.unwrap().as_deref(), Some("lockwork-keeper"));
    })
    .await;
}

#[tokio::test]
async fn work_that_was_never_begun_never_runs() {
    within(ms(5000), async {
        let (began, marker) = (Count::default(), Count::default());
        let shield = Shield::new({
            let began = began.clone();
            async move { began.add() }
        });
        drop(shield);
        // The keeper serves its tasks in turn: what the drop could have sent there came first.
        lockwork_core::lock::backend::keeper::spawn({
            let marker = marker.clone();
            async move { marker.add() }
        });
        marker.reached(1).await;
        assert_eq!(began.get(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_grant_that_nobody_waits_for_any_more_is_given_back() {
    within(ms(5000), async {
        let (gate, ledger) = (Gate::closed(), Ledger::default());
        let mut attempt = Shield::new({
            let (gate, hold) = (gate.clone(), ledger.hold());
            async move {
                gate.pass().await;
                Owned::new(hold, Releases::new())
            }
        });
        assert!(poll_once(&mut attempt).is_pending());
        drop(attempt);
        gate.open();
        ledger.released.reached(1).await;
    })
    .await;
}

#[test]
fn work_that_was_begun_survives_the_runtime_it_was_begun_on() {
    within_thread(ms(10_000), || {
        let (gate, ended) = (Gate::closed(), Count::default());
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let shield = Shield::new({
            let (gate, ended) = (gate.clone(), ended.clone());
            async move {
                gate.pass().await;
                ended.add();
            }
        });
        runtime.spawn(shield);
        block_on(gate.reached(1));
        drop(runtime);
        assert_eq!(ended.get(), 0);
        gate.open();
        block_on(ended.reached(1));
    });
}

#[test]
fn a_timer_of_work_that_was_begun_survives_the_runtime_it_was_begun_on() {
    within_thread(ms(10_000), || {
        let (begun, ended) = (Count::default(), Count::default());
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.spawn(Shield::new({
            let (begun, ended) = (begun.clone(), ended.clone());
            async move {
                let timer = tokio::time::sleep(ms(100));
                begun.add();
                timer.await;
                ended.add();
            }
        }));
        block_on(begun.reached(1));
        drop(runtime);
        block_on(ended.reached(1));
    });
}

#[test]
fn work_that_panicked_is_not_polled_again() {
    within_thread(ms(10_000), || {
        let (polled, marker) = (Count::default(), Count::default());
        let mut shield = Shield::new({
            let polled = polled.clone();
            poll_fn(move |_| -> Poll<()> {
                polled.add();
                if polled.get() == 2 {
                    panic!("this test's work panics when it is polled for the second time");
                }
                Poll::Pending
            })
        });
        assert!(poll_once(&mut shield).is_pending());
        let caught = catch_unwind(AssertUnwindSafe(|| poll_once(&mut shield)));
        assert!(caught.is_err());
        drop(shield);
        lockwork_core::lock::backend::keeper::spawn({
            let marker = marker.clone();
            async move { marker.add() }
        });
        block_on(marker.reached(1));
        assert_eq!(polled.get(), 2);
    });
}
