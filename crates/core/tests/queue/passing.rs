//! A grant that goes from one to the next.

use crate::{
    LONG, ask, asked, get, queue,
    remote::{Remote, poll_once, within},
    try_get, until,
};
use lockwork_core::lock::{Backend, Deadline, Hold, Instant, Memory, Mode, backend::queue::Queue};
use std::{sync::Arc, time::Duration};

#[tokio::test]
async fn a_pass_raises_the_token_and_asks_the_server_nothing() {
    let remote = Remote::new(Memory::new());
    let queue = queue(remote.clone(), LONG);
    let first = get(&queue, Mode::Exclusive).await;
    let token = first.token();
    let next = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Exclusive).await }
    });
    tokio::task::yield_now().await;
    drop(first);
    let next = within(next).await.unwrap();
    assert!(next.token() > token, "{:?} after {token:?}", next.token());
    assert_eq!(remote.asks(), 1);
}

/// Passes the lock from task to task `times` times; the tokens seen, in order.
async fn passed_on<B: Backend>(queue: &Arc<Queue<B>>, times: usize) -> Vec<u64> {
    let mut tokens = Vec::with_capacity(times);
    let mut seat = get(queue, Mode::Exclusive).await;
    for _ in 0..times {
        tokens.push(seat.token().expect("an exclusive grant has a token").get());
        let mut next = Box::pin(asked(queue, ask(Mode::Exclusive, Deadline::Never)));
        assert!(poll_once(&mut next).is_pending());
        drop(seat);
        seat = within(next).await.unwrap().unwrap();
    }
    tokens
}

#[tokio::test]
async fn after_65535_passes_the_server_gives_a_new_number() {
    let remote = Remote::new(Memory::new());
    let queue = queue(remote.clone(), LONG);
    let tokens = passed_on(&queue, 70_000).await;
    assert!(tokens.is_sorted_by(|a, b| a < b), "tokens rise strictly");
    assert_eq!(remote.asks(), 2);
}

#[tokio::test]
async fn after_the_tenure_the_lock_goes_back_to_the_server() {
    let remote = Remote::new(Memory::new());
    let queue = queue(remote.clone(), Duration::from_millis(20));
    let seat = get(&queue, Mode::Exclusive).await;
    let mut next = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
    assert!(poll_once(&mut next).is_pending());
    tokio::time::sleep(Duration::from_millis(25)).await;
    drop(seat);
    drop(within(next).await.unwrap().unwrap());
    assert_eq!(remote.asks(), 2);
}

#[tokio::test]
async fn a_pass_inherits_valid_until_and_never_outlives_it() {
    let remote = Remote::new(Memory::new());
    let end = Instant::now() + Duration::from_millis(150);
    remote.grants_valid_until(end);
    let queue = queue(remote.clone(), LONG.min(Duration::from_millis(40)));
    let first = get(&queue, Mode::Exclusive).await;
    let mut second = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
    assert!(poll_once(&mut second).is_pending());
    drop(first);
    let second = within(second).await.unwrap().unwrap();
    assert_eq!((second.valid_until(), remote.asks()), (Some(end), 1));

    // So little is left of this one that its next holder would have no time to notice.
    let remote = Remote::new(Memory::new());
    remote.grants_valid_until(Instant::now() + Duration::from_millis(30));
    let queue = self::queue(remote.clone(), Duration::from_secs(1));
    let first = get(&queue, Mode::Exclusive).await;
    let mut second = Box::pin(asked(&queue, ask(Mode::Exclusive, Deadline::Never)));
    assert!(poll_once(&mut second).is_pending());
    drop(first);
    drop(within(second).await.unwrap().unwrap());
    assert_eq!(
        remote.asks(),
        2,
        "a grant was passed on with too little left of it"
    );
}

#[tokio::test]
async fn a_request_for_another_lease_does_not_inherit() {
    let remote = Remote::new(Memory::new());
    let queue = queue(remote.clone(), LONG);
    let first = get(&queue, Mode::Exclusive).await;
    let mut wish = ask(Mode::Exclusive, Deadline::Never);
    wish.lease = Some(Duration::from_secs(6));
    let mut second = Box::pin(asked(&queue, wish));
    assert!(poll_once(&mut second).is_pending());
    drop(first);
    drop(within(second).await.unwrap().unwrap());
    assert_eq!(remote.asks(), 2);
}

#[tokio::test]
async fn readers_share_one_grant_and_nobody_joins_an_old_one() {
    let remote = Remote::new(Memory::new());
    let queue = queue(remote.clone(), Duration::from_millis(50));
    let first = get(&queue, Mode::Read).await;
    let second = get(&queue, Mode::Read).await;
    assert_eq!(remote.asks(), 1, "the second reader asked the server");
    tokio::time::sleep(Duration::from_millis(55)).await;
    let third = get(&queue, Mode::Read).await;
    assert_eq!(
        remote.asks(),
        2,
        "a reader joined a grant older than the tenure"
    );
    drop(first);
    assert_eq!(
        remote.releases(),
        0,
        "a grant was given back that a reader still shares"
    );
    drop(second);
    assert_eq!(remote.releases(), 1);
    drop(third);
    until("nothing is left", || {
        queue.lines() == 0 && remote.releases() == 2
    })
    .await;
}

#[tokio::test]
async fn readers_who_try_at_the_same_moment_do_not_fail_each_other() {
    let remote = Remote::new(Memory::new());
    let answers = remote.hold_answers();
    let queue = queue(remote.clone(), LONG);
    let tries: Vec<_> = (0..5)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { try_get(&queue, Mode::Read).await })
        })
        .collect();
    tokio::task::yield_now().await;
    answers.let_go();
    for one in tries {
        assert!(within(one).await.unwrap().is_some());
    }
}
