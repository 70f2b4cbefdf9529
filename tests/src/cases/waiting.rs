//! Waiting: for how long, in which order, and at what cost.

use super::{Case, Need, case};
use crate::{
    Context, Promise,
    context::{SOON, a_while, until, within},
    generous,
};
use lockwork::{Instant, LockOptions, Wait};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(a_wait_of_nothing_or_next_to_nothing_is_a_try_never_forever).every_view(),
        case!(a_wait_of_nothing_gets_a_free_lock).every_view(),
        case!(tasks_of_one_client_are_served_in_the_order_they_came),
        case!(clients_are_served_in_the_order_they_came).needs(&[Need::Promise(Promise::Order)]),
        case!(a_thousand_waiters_of_one_client_are_one_at_the_server)
            .needs(&[Need::Promise(Promise::KnowsWaiters)]),
        case!(waiters_get_in_although_nobody_tells_them),
        case!(another_lock_is_taken_at_once_while_many_wait),
        case!(a_process_that_keeps_asking_does_not_starve_another),
    ]
}

async fn a_wait_of_nothing_or_next_to_nothing_is_a_try_never_forever(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    let _guard = cx.view.lock(&here, &name).await.unwrap();
    for locks in [&here, &there] {
        for limit in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_micros(100),
        ] {
            let options = LockOptions::new().wait(Wait::For(limit));
            let answer = within(SOON, "an answer", cx.view.take(locks, &name, options)).await;
            assert!(answer.unwrap().is_none());
        }
    }
}

async fn a_wait_of_nothing_gets_a_free_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    for limit in [Duration::ZERO, Duration::from_nanos(1)] {
        let options = LockOptions::new().wait(Wait::For(limit));
        let guard = cx.view.take(&locks, &name, options).await.unwrap();
        guard.expect("it was free").release().await.unwrap();
    }
}

/// Lets `tasks` wait one after another, releases, and says in which order they were served.
async fn order_of(
    cx: &Context,
    holder: &lockwork::Locks,
    clients: &[lockwork::Locks],
    tasks: usize,
) -> Vec<usize> {
    let name = &cx.name("x");
    let guard = holder.mutex(name).lock().await.unwrap();
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..tasks {
        let mutex = clients[number % clients.len()].mutex(name);
        let served = served.clone();
        waiting.push(tokio::spawn(async move {
            let guard = mutex.lock().await.unwrap();
            served.lock().unwrap().push(number);
            guard.release().await.unwrap();
        }));
        // Of tasks of the holder's own client the server hears nothing.
        if clients.len() > 1 {
            cx.until_waiting(holder, name, number + 1).await;
        }
        a_while().await;
    }
    guard.release().await.unwrap();
    for task in waiting {
        within(SOON, "every task gets in", task).await.unwrap();
    }
    served.lock().unwrap().clone()
}

async fn tasks_of_one_client_are_served_in_the_order_they_came(cx: Context) {
    let clients = [cx.client().await];
    let order = order_of(&cx, &clients[0], &clients, 20).await;
    assert_eq!(order, (0..20).collect::<Vec<_>>());
}

async fn clients_are_served_in_the_order_they_came(cx: Context) {
    let mut clients = Vec::new();
    for _ in 0..6 {
        clients.push(cx.client().await);
    }
    let order = order_of(&cx, &cx.client().await, &clients, 6).await;
    assert_eq!(order, (0..6).collect::<Vec<_>>());
}

async fn a_thousand_waiters_of_one_client_are_one_at_the_server(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here.mutex(&name).lock().await.unwrap();
    let waiting: Vec<_> = (0..1000)
        .map(|_| {
            let mutex = there.mutex(&name);
            tokio::spawn(async move { drop(mutex.lock().await.unwrap()) })
        })
        .collect();
    cx.until_waiting(&here, &name, 1).await;
    a_while().await;
    assert_eq!(here.mutex(&name).holders().await.unwrap().waiting.len(), 1);
    guard.release().await.unwrap();
    for task in waiting {
        within(Duration::from_secs(30), "every task gets in", task)
            .await
            .unwrap();
    }
    drop((here, there));
    cx.nothing_left(SOON).await;
}

async fn waiters_get_in_although_nobody_tells_them(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    cx.harness.mute();
    for _ in 0..3 {
        let guard = here.mutex(&name).lock().await.unwrap();
        let waiting = tokio::spawn({
            let mutex = there.mutex(&name);
            async move { mutex.lock().await.unwrap() }
        });
        a_while().await;
        guard.release().await.unwrap();
        let next = within(cx.harness.patience(), "it looks for itself", waiting)
            .await
            .unwrap();
        next.release().await.unwrap();
    }
}

async fn another_lock_is_taken_at_once_while_many_wait(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _guard = locks.mutex(&name).lock().await.unwrap();
    let waiting: Vec<_> = (0..200)
        .map(|_| {
            let mutex = locks.mutex(&name);
            tokio::spawn(async move { mutex.lock().await.map(drop) })
        })
        .collect();
    a_while().await;
    // Who has to wait for the others is slow each time; who had bad luck is not.
    let mut took = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let other = locks.mutex(cx.name("other")).lock().await.unwrap();
        other.release().await.unwrap();
        took = took.min(start.elapsed());
    }
    let allowed = generous(Duration::from_millis(200));
    assert!(
        took < allowed,
        "another lock took {took:?}, allowed {allowed:?}"
    );
    for task in waiting {
        task.abort();
    }
}

async fn a_process_that_keeps_asking_does_not_starve_another(cx: Context) {
    let (greedy, modest, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let asking: Vec<_> = (0..4)
        .map(|_| {
            let mutex = greedy.mutex(&name);
            tokio::spawn(async move {
                loop {
                    let _guard = mutex.lock().await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    let turns = Arc::new(Mutex::new(0));
    let modest = tokio::spawn({
        let (mutex, turns) = (modest.mutex(&name), turns.clone());
        async move {
            loop {
                drop(mutex.lock().await.unwrap());
                *turns.lock().unwrap() += 1;
            }
        }
    });
    until(
        Duration::from_secs(30),
        "the other has had five turns",
        || *turns.lock().unwrap() >= 5,
    )
    .await;
    modest.abort();
    for task in asking {
        task.abort();
    }
}
