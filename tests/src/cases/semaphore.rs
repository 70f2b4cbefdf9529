//! So many at a time, and no more.

use super::{Case, Need, case};
use crate::{
    Context,
    context::{SOON, until, within},
};
use lockwork::ErrorKind;
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

const SEMAPHORE: &[Need] = &[Need::Semaphore];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(as_many_as_there_are_permits_and_no_more).needs(SEMAPHORE),
        case!(every_number_of_holders_up_to_the_limit_is_seen).needs(SEMAPHORE),
        case!(a_hundred_tasks_reach_the_limit_and_never_pass_it).needs(SEMAPHORE),
        case!(a_drained_semaphore_fills_again).needs(SEMAPHORE),
        case!(four_thousand_million_permits_and_a_thousand_byte_name).needs(SEMAPHORE),
        case!(zero_permits_are_refused_with_a_sentence).needs(SEMAPHORE),
        case!(two_sizes_of_one_name_are_each_kept).needs(SEMAPHORE),
        case!(tries_at_the_same_moment_do_not_fail_each_other).needs(SEMAPHORE),
    ]
}

async fn as_many_as_there_are_permits_and_no_more(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (here, there) = (here.semaphore(&name, 3), there.semaphore(&name, 3));
    let first = here.acquire().await.unwrap();
    let others = [
        here.acquire().await.unwrap(),
        there.acquire().await.unwrap(),
    ];
    for semaphore in [&here, &there] {
        assert!(semaphore.try_acquire().await.unwrap().is_none());
    }
    first.release().await.unwrap();
    assert!(there.try_acquire().await.unwrap().is_some());
    drop(others);
}

async fn every_number_of_holders_up_to_the_limit_is_seen(cx: Context) {
    let (clients, name) = ([cx.client().await, cx.client().await], cx.name("x"));
    let inside = Arc::new(AtomicU32::new(0));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let start = Instant::now();
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let semaphore = clients[number % 2].semaphore(&name, 3);
            let (inside, seen) = (inside.clone(), seen.clone());
            tokio::spawn(async move {
                // Where asking takes long, it takes longer until three are in at once.
                let enough =
                    |turn, seen: usize| turn >= 25 && (seen >= 3 || start.elapsed() > SOON * 4);
                for turn in 0.. {
                    if enough(turn, seen.lock().unwrap().len()) {
                        return;
                    }
                    let guard = semaphore.acquire().await.unwrap();
                    seen.lock().unwrap().insert(inside.fetch_add(1, SeqCst) + 1);
                    // Long enough for a server to be asked for another permit meanwhile, however slow it is.
                    let stay = if turn < 25 { 5 } else { 200 };
                    tokio::time::sleep(Duration::from_millis(stay)).await;
                    seen.lock().unwrap().insert(inside.fetch_sub(1, SeqCst));
                    drop(guard);
                }
            })
        })
        .collect();
    for task in tasks {
        within(
            Duration::from_secs(40),
            "every task has had its turns",
            task,
        )
        .await
        .unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([1, 2, 3]));
}

async fn a_hundred_tasks_reach_the_limit_and_never_pass_it(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let inside = Arc::new(AtomicU32::new(0));
    let most = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let semaphore = locks.semaphore(&name, 10);
            let (inside, most) = (inside.clone(), most.clone());
            tokio::spawn(async move {
                let _guard = semaphore.acquire().await.unwrap();
                most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                // The first ten stay until all of them are in, however long each takes to come: they ask the server one
                // after the other, some with a dozen requests each.
                let reached = || most.load(SeqCst) >= 10;
                until(SOON * 3, "the limit is reached", reached).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
                inside.fetch_sub(1, SeqCst);
            })
        })
        .collect();
    for task in tasks {
        within(Duration::from_secs(30), "every task has had its turn", task)
            .await
            .unwrap();
    }
    assert_eq!(most.load(SeqCst), 10);
}

async fn a_drained_semaphore_fills_again(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let semaphore = locks.semaphore(&name, 5);
    for _ in 0..3 {
        let mut guards = Vec::new();
        while let Some(guard) = semaphore.try_acquire().await.unwrap() {
            guards.push(guard);
        }
        assert_eq!(guards.len(), 5);
        for guard in guards {
            guard.release().await.unwrap();
        }
    }
}

async fn four_thousand_million_permits_and_a_thousand_byte_name(cx: Context) {
    let locks = cx.client().await;
    let run = cx.name("");
    let name = format!("{run}{}", "n".repeat(1000 - run.len()));
    let semaphore = locks.semaphore(&name, u32::MAX);
    let mut guards = Vec::new();
    for _ in 0..100 {
        guards.push(within(SOON, "a permit", semaphore.acquire()).await.unwrap());
    }
}

async fn zero_permits_are_refused_with_a_sentence(cx: Context) {
    let locks = cx.client().await;
    let error = locks
        .semaphore(cx.name("x"), 0)
        .try_acquire()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("at least one permit"), "{error}");
}

async fn two_sizes_of_one_name_are_each_kept(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let (two, three) = (locks.semaphore(&name, 2), locks.semaphore(&name, 3));
    let first = two.acquire().await.unwrap();
    let _second = two.acquire().await.unwrap();
    assert!(two.try_acquire().await.unwrap().is_none());
    let third = three
        .try_acquire()
        .await
        .unwrap()
        .expect("a third of three");
    assert!(three.try_acquire().await.unwrap().is_none());
    assert!(two.try_acquire().await.unwrap().is_none());
    third.release().await.unwrap();
    first.release().await.unwrap();
    assert!(two.try_acquire().await.unwrap().is_some());
}

async fn tries_at_the_same_moment_do_not_fail_each_other(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let tries: Vec<_> = (0..8)
        .map(|_| {
            let semaphore = locks.semaphore(&name, 8);
            tokio::spawn(async move { semaphore.try_acquire().await.unwrap() })
        })
        .collect();
    let mut guards = Vec::new();
    for one in tries {
        guards.push(one.await.unwrap().expect("there was a permit for each"));
    }
}
