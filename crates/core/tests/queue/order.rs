//! In which order they come in, and who beside whom.

use crate::{
    LONG, MODES, ask, asked, get, queue,
    remote::{Remote, poll_once, within},
    try_get, until,
};
use lockwork_core::lock::{Backend, Deadline, Hold, Instant, LockId, Memory, Mode, Name, Space};
use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

#[tokio::test]
async fn ten_thousand_waiters_cost_the_backend_one() {
    let memory = Memory::new();
    let elsewhere = memory
        .acquire(ask(Mode::Exclusive, Deadline::Now))
        .await
        .unwrap()
        .unwrap();
    let queue = queue(memory.clone(), LONG);
    let done = Arc::new(AtomicU32::new(0));
    let mut tasks = Vec::new();
    for _ in 0..10_000 {
        let (queue, done) = (queue.clone(), done.clone());
        tasks.push(tokio::spawn(async move {
            drop(
                asked(&queue, ask(Mode::Exclusive, Deadline::Never))
                    .await
                    .unwrap()
                    .unwrap(),
            );
            done.fetch_add(1, SeqCst);
        }));
    }
    tokio::task::yield_now().await;
    let id = LockId::new(Space::Mutex, Name::new("x").unwrap());
    assert_eq!(memory.holders(&id).await.unwrap().waiting.len(), 1);
    elsewhere.release().await.unwrap();
    for task in tasks {
        within(task).await.unwrap();
    }
    assert_eq!(done.load(SeqCst), 10_000);
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}

#[tokio::test]
async fn local_waiters_are_served_in_the_order_they_came() {
    for tenure in [LONG, Duration::ZERO] {
        let queue = queue(Memory::new(), tenure);
        let first = get(&queue, Mode::Exclusive).await;
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..100 {
            let (queue, served) = (queue.clone(), served.clone());
            tasks.push(tokio::spawn(async move {
                let _seat = get(&queue, Mode::Exclusive).await;
                served.lock().unwrap().push(number);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            within(task).await.unwrap();
        }
        assert_eq!(*served.lock().unwrap(), (0..100).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_waiting_writer_is_not_overtaken_by_later_readers() {
    let queue = queue(Memory::new(), LONG);
    let reader = get(&queue, Mode::Read).await;
    let writing = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Write).await }
    });
    tokio::task::yield_now().await;
    assert!(
        try_get(&queue, Mode::Read).await.is_none(),
        "a reader came in before the writer"
    );
    let later = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Read).await }
    });
    tokio::task::yield_now().await;
    drop(reader);
    let writer = within(writing).await.unwrap();
    tokio::task::yield_now().await;
    assert!(
        !later.is_finished(),
        "a later reader is in beside the writer"
    );
    drop(writer);
    drop(within(later).await.unwrap());
    until("nothing is left", || queue.lines() == 0).await;
}

#[tokio::test]
async fn a_reader_behind_a_writer_that_leaves_comes_in() {
    let queue = queue(Memory::new(), LONG);
    let _reader = get(&queue, Mode::Read).await;
    let mut writing = Box::pin(asked(&queue, ask(Mode::Write, Deadline::Never)));
    assert!(poll_once(&mut writing).is_pending());
    let later = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Read).await }
    });
    tokio::task::yield_now().await;
    drop(writing);
    drop(within(later).await.unwrap());
}

/// A server that grants everything at once, as a database session does to itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modes_that_exclude_each_other_do_so_whatever_the_server_grants() {
    for tenure in [LONG, Duration::from_millis(1), Duration::ZERO] {
        let queue = queue(Remote::generous(), tenure);
        let inside = Arc::new(crate::remote::Inside::default());
        let mut tasks = Vec::new();
        for worker in 0..8 {
            let (queue, inside) = (queue.clone(), inside.clone());
            tasks.push(tokio::spawn(async move {
                for turn in 0..200 {
                    let mode = MODES[(worker * 7 + turn * 3) % MODES.len()];
                    let mut seat = get(&queue, mode).await;
                    inside.enter(mode);
                    tokio::task::yield_now().await;
                    if mode == Mode::Upgradeable && turn % 2 == 0 {
                        inside.leave(mode);
                        assert!(seat.upgrade(Deadline::Never).await.unwrap());
                        inside.enter(Mode::Write);
                        tokio::task::yield_now().await;
                        inside.leave(Mode::Write);
                    } else {
                        inside.leave(mode);
                    }
                    drop(seat);
                }
            }));
        }
        for task in tasks {
            within(task).await.unwrap();
        }
        assert!(
            inside.most_readers() > 1 || tenure.is_zero(),
            "readers never met"
        );
        until("nothing is left", || queue.lines() == 0).await;
    }
}

#[tokio::test]
async fn an_exclusive_request_never_enters_beside_a_live_local_reader() {
    let queue = queue(Remote::generous(), LONG);
    let reader = get(&queue, Mode::Read).await;
    assert!(try_get(&queue, Mode::Write).await.is_none());
    let short = Deadline::At(Instant::now() + Duration::from_millis(20));
    assert!(
        within(asked(&queue, ask(Mode::Write, short)))
            .await
            .unwrap()
            .is_none()
    );
    drop(reader);
    assert!(try_get(&queue, Mode::Write).await.is_some());
}

#[tokio::test]
async fn permits_go_to_local_waiters_in_order_even_to_the_one_who_asks_the_server() {
    let mode = Mode::Permit {
        of: NonZeroU32::MIN.saturating_add(1),
    };
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let mut inside = vec![get(&queue, mode).await, get(&queue, mode).await];
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for number in 0..6 {
        let (queue, served) = (queue.clone(), served.clone());
        tasks.push(tokio::spawn(async move {
            let seat = get(&queue, mode).await;
            served.lock().unwrap().push(number);
            drop(seat);
        }));
        tokio::task::yield_now().await;
    }
    drop(inside.pop());
    for task in tasks {
        within(task).await.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
    drop(inside);
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}
