//! Those who are gone: lost grants, and waiters that left.

use crate::{
    LONG, MODES, ask, asked, get, queue,
    remote::{poll_once, within},
    soon, try_get, until,
};
use lockwork_core::lock::{Backend, Deadline, Hold, LockId, Loss, Memory, Mode, Name, Space};
use std::time::Duration;

#[tokio::test]
async fn whoever_waits_behind_a_lost_grant_does_not_wait_for_its_guard() {
    let memory = Memory::new();
    for mode in MODES {
        let queue = queue(memory.clone(), LONG);
        let zombie = get(&queue, mode).await;
        let rival = if mode == Mode::Read {
            Mode::Write
        } else {
            mode
        };
        let second = if mode.space() == Space::Semaphore {
            Some(get(&queue, mode).await)
        } else {
            None
        };
        let mut waiting = Box::pin(asked(&queue, ask(rival, Deadline::Never)));
        assert!(poll_once(&mut waiting).is_pending());
        let id = LockId::new(mode.space(), Name::new("x").unwrap());
        assert!(memory.break_lock(&id).await.unwrap() > 0);
        assert_eq!(within(zombie.lost().into_future()).await, Loss::Taken);
        let next = within(waiting).await.unwrap().unwrap();
        assert!(mode != Mode::Exclusive || next.token() > zombie.token());
        drop((zombie, second));
        assert!(next.lost().get().is_none());
        drop(next);
        until("nothing is left", || {
            queue.lines() == 0 && memory.is_empty()
        })
        .await;
    }
}

#[tokio::test]
async fn a_try_behind_a_lost_grant_gets_the_lock() {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let zombie = get(&queue, Mode::Exclusive).await;
    memory.forget_everything();
    let next = try_get(&queue, Mode::Exclusive)
        .await
        .expect("the server has it free");
    drop(zombie);
    assert!(next.lost().get().is_none());
    assert!(try_get(&queue, Mode::Exclusive).await.is_none());
}

#[tokio::test]
async fn a_lost_grant_is_not_passed_on() {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let zombie = get(&queue, Mode::Exclusive).await;
    let mut waiting = Box::pin(asked(&queue, ask(Mode::Exclusive, soon())));
    assert!(poll_once(&mut waiting).is_pending());
    memory.forget_everything();
    drop(zombie);
    let next = within(waiting).await.unwrap().unwrap();
    assert!(
        next.lost().get().is_none(),
        "the next one was given a lost grant"
    );
}

#[tokio::test]
async fn waiters_that_left_are_skipped() {
    let queue = queue(Memory::new(), LONG);
    let first = get(&queue, Mode::Exclusive).await;
    let mut gone: Vec<_> = (0..50)
        .map(|_| Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never))))
        .collect();
    for waiting in &mut gone {
        assert!(poll_once(waiting).is_pending());
    }
    let mut last = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
    assert!(poll_once(&mut last).is_pending());
    drop(gone);
    drop(first);
    drop(within(last).await.unwrap().unwrap());
}

#[tokio::test]
async fn a_turn_that_came_to_somebody_who_left_unread_goes_on() {
    for tenure in [LONG, Duration::ZERO] {
        let memory = Memory::new();
        let queue = queue(memory.clone(), tenure);
        let first = get(&queue, Mode::Exclusive).await;
        let mut gone = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
        assert!(poll_once(&mut gone).is_pending());
        drop(first); // its turn is sent now, and never read
        drop(gone);
        drop(get(&queue, Mode::Exclusive).await);
        until("nothing is left", || {
            queue.lines() == 0 && memory.is_empty()
        })
        .await;
    }
}

#[tokio::test]
async fn when_the_one_who_asks_the_server_leaves_the_next_one_asks() {
    let memory = Memory::new();
    let elsewhere = memory
        .acquire(ask(Mode::Exclusive, Deadline::Now))
        .await
        .unwrap()
        .unwrap();
    let queue = queue(memory.clone(), LONG);
    let mut asking = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
    assert!(poll_once(&mut asking).is_pending());
    let next = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Exclusive).await }
    });
    tokio::task::yield_now().await;
    drop(asking);
    elsewhere.release().await.unwrap();
    drop(within(next).await.unwrap());
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}
