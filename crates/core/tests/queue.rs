//! The in-process queue: order, exclusion, passing on, sharing, upgrades, and leaving half way.

// A test says what it expects by unwrapping it, in its helpers too.
#![allow(clippy::unwrap_used)]

mod remote;

use lockwork_core::lock::{
    Backend, Deadline, Hold, Instant, LockId, Loss, Memory, Mode, Name, Request, Result, Space,
    backend::{Owned, Releases, queue::Queue, queue::Seat},
};
use remote::{Remote, poll_once, within};
use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

const LONG: Duration = Duration::from_secs(3600);
const MODES: [Mode; 5] = [
    Mode::Exclusive,
    Mode::Read,
    Mode::Write,
    Mode::Upgradeable,
    Mode::Permit {
        of: NonZeroU32::MIN.saturating_add(1),
    },
];

fn queue<B: Backend>(backend: B, tenure: Duration) -> Arc<Queue<B>> {
    Arc::new(Queue::new(backend, tenure, Releases::new()))
}

fn ask(mode: Mode, deadline: Deadline) -> Request {
    Request::new(Name::new("x").expect("a name"), mode, deadline)
}

fn soon() -> Deadline {
    Deadline::At(Instant::now() + Duration::from_secs(5))
}

/// What `Locks` does with every hold at once.
fn own<H: Hold>(hold: H) -> Owned<H> {
    Owned::new(hold, Releases::new())
}

async fn asked<B: Backend>(queue: &Queue<B>, request: Request) -> Result<Option<Owned<Seat<B>>>> {
    Ok(queue.acquire(request).await?.map(own))
}

async fn get<B: Backend>(queue: &Queue<B>, mode: Mode) -> Owned<Seat<B>> {
    let granted = within(asked(queue, ask(mode, Deadline::Never))).await;
    granted.expect("no error").expect("waited without limit")
}

async fn try_get<B: Backend>(queue: &Queue<B>, mode: Mode) -> Option<Owned<Seat<B>>> {
    within(asked(queue, ask(mode, Deadline::Now)))
        .await
        .expect("no error")
}

/// Waits until `condition` holds, by looking; for what has no event to await.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(!limit.has_passed(), "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

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
        let inside = Arc::new(remote::Inside::default());
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

#[tokio::test]
async fn an_upgrade_goes_before_a_reader_who_waits_at_the_server() {
    // A writer elsewhere waits for our upgradeable reader, so a reader of ours waits behind it at
    // the server: the upgrade must not wait for that reader, or all three wait for ever.
    let memory = Memory::new();
    let queue = queue(memory.clone(), Duration::ZERO);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let mut writer_elsewhere = Box::pin(memory.acquire(ask(Mode::Write, Deadline::Never)));
    assert!(poll_once(&mut writer_elsewhere).is_pending());
    let reading = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Read).await }
    });
    tokio::task::yield_now().await;
    assert!(within(upgradeable.upgrade(Deadline::Never)).await.unwrap());
    assert!(upgradeable.token().is_some());
    tokio::task::yield_now().await;
    assert!(!reading.is_finished(), "a reader is in beside the writer");
    upgradeable.release().await.unwrap();
    let writer = within(writer_elsewhere).await.unwrap().unwrap();
    writer.release().await.unwrap();
    drop(within(reading).await.unwrap());
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_waits_for_local_readers_and_lets_no_new_ones_in() {
    let queue = queue(Remote::generous(), LONG);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let reader = get(&queue, Mode::Read).await;
    assert!(!within(upgradeable.upgrade(Deadline::Now)).await.unwrap());
    let mut upgrading = Box::pin(upgradeable.upgrade(Deadline::Never));
    assert!(poll_once(&mut upgrading).is_pending());
    assert!(
        try_get(&queue, Mode::Read).await.is_none(),
        "a reader came in during an upgrade"
    );
    drop(reader);
    assert!(within(upgrading).await.unwrap());
    assert!(try_get(&queue, Mode::Read).await.is_none());
    drop(upgradeable);
    assert!(try_get(&queue, Mode::Read).await.is_some());
}

#[tokio::test]
async fn an_upgrade_given_up_half_way_leaves_a_reader() {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let reader = get(&queue, Mode::Read).await;
    let mut upgrading = Box::pin(upgradeable.upgrade(Deadline::Never));
    assert!(poll_once(&mut upgrading).is_pending());
    drop(upgrading);
    assert!(
        try_get(&queue, Mode::Read).await.is_some(),
        "readers are still kept out"
    );
    drop(reader);
    drop(upgradeable);
    assert!(try_get(&queue, Mode::Write).await.is_some());
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}

#[tokio::test]
async fn all_or_nothing_leaves_nothing_when_one_is_busy() -> Result<()> {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let named = |name: &str| {
        let name = Name::new(name).expect("a name");
        Request::new(name, Mode::Exclusive, Deadline::Now)
    };
    let busy = asked(&queue, named("b")).await?.expect("free");
    assert!(
        queue
            .acquire_all(vec![named("a"), named("b"), named("c")])
            .await?
            .is_none()
    );
    assert_eq!((queue.lines(), memory.len()), (1, 1));
    drop(busy);
    let all = queue
        .acquire_all(vec![named("a"), named("b"), named("c")])
        .await?
        .expect("free");
    let all: Vec<_> = all.into_iter().map(own).collect();
    assert_eq!(all.len(), 3);
    assert!(asked(&queue, named("c")).await?.is_none());
    drop(all);
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
    Ok(())
}
