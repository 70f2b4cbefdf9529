//! Futures dropped half way leave nothing behind.

use super::{Case, case};
use crate::{
    Context, View,
    context::{SOON, within},
    generous, poll_at_most,
};
use lockwork::{Locks, backend::keeper};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::time::{Duration, Instant};

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(acquires_dropped_at_random_polls_leave_nothing),
        case!(an_acquire_dropped_after_one_poll_leaves_nothing).every_view(),
        case!(a_wait_given_up_lets_the_next_one_in).every_view(),
        case!(an_aborted_task_leaves_nothing).every_view(),
    ]
}

const TASKS: u32 = 16;

async fn acquires_dropped_at_random_polls_leave_nothing(cx: Context) {
    let clients = [cx.client().await, cx.client().await];
    let info = clients[0].info();
    let views: Vec<_> = View::EVERY
        .into_iter()
        .filter(|view| view.is_shown_by(&info))
        .collect();
    // Whatever lives on the keeper thread for as long as a client does is not left behind.
    for client in &clients {
        client
            .mutex(cx.name("warm"))
            .lock()
            .await
            .unwrap()
            .release()
            .await
            .unwrap();
    }
    let (kept, spawned) = (keeper::tasks(), alive());
    // In all, over every mode and both free and busy locks.
    let drops = cx.harness.drops();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (cx, views) = (cx.clone(), views.clone());
            let locks = clients[task as usize % 2].clone();
            tokio::spawn(async move {
                let mut random = SmallRng::seed_from_u64(u64::from(task));
                let mut granted = 0;
                for _ in 0..drops / TASKS {
                    granted += u32::from(drop_one(&cx, &locks, &views, &mut random).await);
                }
                granted
            })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        granted += within(Duration::from_secs(50), "all are dropped", task)
            .await
            .unwrap();
    }
    assert!(
        granted > drops / 100,
        "only {granted} were granted: this proves nothing"
    );
    assert!(
        granted < drops,
        "none was dropped half way: this proves nothing"
    );
    cx.nothing_left(Duration::from_secs(2)).await;
    no_task_left(kept, spawned).await;
    for view in views {
        for number in 0..3 {
            let name = name(&cx, view, number);
            let free = format!("{view:?} {number} is free");
            let held = within(SOON, &free, view.lock(&clients[0], &name)).await;
            held.unwrap().release().await.unwrap();
        }
    }
}

/// One of a few names, of which semaphores have their own: not everywhere are those others than the
/// names of mutexes.
fn name(cx: &Context, view: View, number: usize) -> String {
    let permit = matches!(view, View::OnePermit | View::LastPermit);
    cx.name(&format!("{}{number}", if permit { "permit " } else { "" }))
}

/// Takes a random lock in a random mode, or gives up half way; whether it got it.
async fn drop_one(cx: &Context, locks: &Locks, views: &[View], random: &mut SmallRng) -> bool {
    let number = random.random_range(0..3);
    let polls = random.random_range(1..6);
    let seldom = random.random_range(0..8) == 0;
    let held = match random.random_range(0..views.len() + 1) {
        // A reader of the name of the writers and the upgradeable.
        0 if locks.info().capability.rw_lock => {
            let lock = locks.rw_lock(name(cx, View::Write, number));
            poll_at_most(polls, lock.read())
                .await
                .map(|guard| drop(guard.unwrap()))
                .is_some()
        }
        pick => {
            let view = views[pick % views.len()];
            let name = name(cx, view, number);
            let held = poll_at_most(polls, view.lock(locks, &name)).await;
            match held {
                Some(Ok(held)) if seldom => {
                    // Sometimes the release is dropped half way as well.
                    let _ = poll_at_most(1, held.release()).await;
                    true
                }
                Some(Ok(_)) => true,
                Some(Err(error)) => panic!("{error:?}"),
                None => false,
            }
        }
    };
    if seldom {
        tokio::task::yield_now().await;
    }
    held
}

fn alive() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}

/// So many tasks may be those of cases that run beside this one.
const OTHERS: usize = 200;

async fn no_task_left(kept: usize, spawned: usize) {
    let (start, limit) = (Instant::now(), Duration::from_secs(1));
    while keeper::tasks() > kept + OTHERS || alive() > spawned {
        let now = (keeper::tasks(), alive());
        let left = format!("{now:?} tasks live, {:?} did before", (kept, spawned));
        // As one that was late: a task that leaks is found when this runs alone.
        assert!(
            start.elapsed() < generous(limit),
            "not within {limit:?}: {left}"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn an_acquire_dropped_after_one_poll_leaves_nothing(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let others = cx.view.prepare(&here, &name).await;
    for pause in [0, 1, 3, 10] {
        // One poll: the question is on its way. Then the answer comes, and nobody reads it.
        let mut acquiring = Box::pin(cx.view.lock(&here, &name));
        let polled = poll_at_most(1, acquiring.as_mut()).await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        drop((polled, acquiring));
        let next = cx.view.try_lock_for(&there, &name, SOON).await.unwrap();
        next.expect("free after it was given up: not within 5 s")
            .release()
            .await
            .unwrap();
    }
    drop(others);
    cx.nothing_left(SOON).await;
}

async fn a_wait_given_up_lets_the_next_one_in(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let others = cx.view.prepare(&here, &name).await;
    let guard = cx.view.lock(&here, &name).await.unwrap();
    let given_up = Duration::from_millis(40);
    for locks in [&here, &there] {
        let waiting = tokio::time::timeout(given_up, cx.view.lock(locks, &name));
        assert!(waiting.await.is_err(), "two hold the lock");
    }
    guard.release().await.unwrap();
    let next = cx.view.try_lock_for(&there, &name, SOON).await.unwrap();
    next.expect("nobody waits any more: not within 5 s")
        .release()
        .await
        .unwrap();
    drop(others);
    cx.nothing_left(SOON).await;
}

async fn an_aborted_task_leaves_nothing(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let others = cx.view.prepare(&locks, &name).await;
    for _ in 0..20 {
        let task = tokio::spawn({
            let (view, locks, name) = (cx.view, locks.clone(), name.clone());
            async move {
                let _guard = view.lock(&locks, &name).await.unwrap();
                std::future::pending::<()>().await;
            }
        });
        tokio::task::yield_now().await;
        task.abort();
    }
    let next = cx.view.try_lock_for(&locks, &name, SOON).await.unwrap();
    next.expect("free after the tasks: not within 5 s")
        .release()
        .await
        .unwrap();
    drop(others);
    cx.nothing_left(SOON).await;
}
