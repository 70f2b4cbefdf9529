//! Several locks at once.

use super::{Case, case};
use crate::{
    Context,
    context::{SOON, a_while, until, within},
};
use lockwork::ErrorKind;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(all_or_none_and_names_given_twice_count_once),
        case!(overlapping_sets_in_any_order_never_deadlock),
        case!(a_wait_for_several_that_runs_out_leaves_none),
        case!(several_are_lost_when_one_of_them_is).needs(&[super::Need::Sever]),
        case!(all_of_none_is_refused_with_a_sentence),
    ]
}

async fn all_or_none_and_names_given_twice_count_once(cx: Context) {
    let (here, there) = (cx.client().await, cx.client().await);
    let [a, b, c] = ["a", "b", "c"].map(|name| cx.name(name));
    let busy = there.mutex(&b).lock().await.unwrap();
    assert!(here.all([&c, &b, &a]).try_lock().await.unwrap().is_none());
    for name in [&a, &c] {
        let free = there.mutex(name).try_lock_for(SOON).await.unwrap();
        let free = free.unwrap_or_else(|| panic!("{name} stayed held: not within {SOON:?}"));
        free.release().await.unwrap();
    }
    busy.release().await.unwrap();
    let all = here
        .all([&c, &b, &a, &b])
        .try_lock()
        .await
        .unwrap()
        .expect("all are free");
    assert_eq!(all.iter().count(), 3);
    for name in [&a, &b, &c] {
        assert!(there.mutex(name).try_lock().await.unwrap().is_none());
    }
    all.release().await.unwrap();
}

async fn overlapping_sets_in_any_order_never_deadlock(cx: Context) {
    let clients = [cx.client().await, cx.client().await];
    let names: Vec<_> = (0..4).map(|n| cx.name(&n.to_string())).collect();
    let busy: Arc<Vec<AtomicU32>> = Arc::new(names.iter().map(|_| AtomicU32::new(0)).collect());
    let tasks: Vec<_> = (0..12_usize)
        .map(|task| {
            let (locks, names, busy) = (clients[task % 2].clone(), names.clone(), busy.clone());
            tokio::spawn(async move {
                for turn in 0..8 {
                    let picked = [task + turn, task * 3 + turn * 2 + 1, task].map(|n| n % 4);
                    let all = locks
                        .all(picked.map(|n| names[n].clone()))
                        .lock()
                        .await
                        .unwrap();
                    let mut distinct = picked.to_vec();
                    distinct.sort_unstable();
                    distinct.dedup();
                    for n in &distinct {
                        assert_eq!(busy[*n].fetch_add(1, SeqCst), 0, "two hold lock {n}");
                    }
                    tokio::task::yield_now().await;
                    for n in &distinct {
                        busy[*n].fetch_sub(1, SeqCst);
                    }
                    drop(all);
                }
            })
        })
        .collect();
    for task in tasks {
        within(Duration::from_secs(40), "nobody waits in a circle", task)
            .await
            .unwrap();
    }
}

async fn a_wait_for_several_that_runs_out_leaves_none(cx: Context) {
    let (here, there) = (cx.client().await, cx.client().await);
    let [a, b] = ["a", "b"].map(|name| cx.name(name));
    let _busy = there.mutex(&b).lock().await.unwrap();
    let limit = Duration::from_millis(100);
    assert!(
        here.all([&a, &b])
            .try_lock_for(limit)
            .await
            .unwrap()
            .is_none()
    );
    let free = there.mutex(&a).try_lock_for(SOON).await.unwrap();
    assert!(
        free.is_some(),
        "the first stayed held when the second could not be had: not within {SOON:?}"
    );
    let waiting = tokio::spawn({
        let all = here.all([&a, &b]);
        async move { all.lock().await }
    });
    a_while().await;
    waiting.abort();
    drop(free);
    let free = there.mutex(&a).try_lock_for(SOON).await.unwrap();
    assert!(
        free.is_some(),
        "the first stayed held by one who gave up: not within {SOON:?}"
    );
}

async fn several_are_lost_when_one_of_them_is(cx: Context) {
    let locks = cx.client().await;
    let all = locks
        .all([cx.name("a"), cx.name("b")])
        .lock()
        .await
        .unwrap();
    let lost = all.lost();
    cx.harness.sever().expect("needed").await;
    until(cx.harness.notice(), "a loss is noticed", || {
        lost.get().is_some()
    })
    .await;
    assert!(!all.is_valid());
    assert_eq!(all.release().await.unwrap_err().kind(), ErrorKind::Lost);
}

async fn all_of_none_is_refused_with_a_sentence(cx: Context) {
    let none: [&str; 0] = [];
    let error = cx.client().await.all(none).try_lock().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
