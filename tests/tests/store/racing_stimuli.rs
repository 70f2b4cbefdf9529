//! Stimuli and bookmarks that come at the same moment: they meet, once.

use crate::{
    racing::{CROWD_OF, crowd},
    support::*,
};
use lockwork::{
    runtime::store::{ErrandKind, Held},
    workflow::ErrorKind,
};
use serde_json::json;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

pub(crate) fn list() -> Vec<Case> {
    cases![CROWD;
        a_stimulus_and_a_bookmark_that_come_at_once_meet,
        each_of_many_stimuli_is_delivered_once,
        a_stimulus_for_all_reaches_each_once,
        of_many_with_one_key_one_counts,
        commits_that_add_the_same_in_another_order_do_not_stop_each_other,
    ]
}

/// The one comes while the other does, again and again: neither may wait while the other does.
async fn a_stimulus_and_a_bookmark_that_come_at_once_meet(cx: Cx) {
    const ROUNDS: usize = 125;
    let met = crowd(&cx, async |cx: Cx, lane| {
        let id = format!("i{lane}");
        cx.made(&id).await;
        let other = cx.other().await;
        for round in 0..ROUNDS {
            let (name, at) = (format!("{lane}-{round}"), format!("{id}:{round}"));
            let claimed = cx.claimed(&id).await;
            let mut commit = nothing(&claimed);
            commit.wait(mark(&at, &name));
            let sending = sending_as(&name, event(&name));
            // Now one of them is earlier, now the other.
            let (first, second) = tokio::join!(
                async {
                    spin(round % 7).await;
                    cx.commit(commit).await
                },
                async {
                    spin(round % 5).await;
                    other.send(sending).await
                }
            );
            first.unwrap();
            second.unwrap();
        }
        ROUNDS
    });
    let all: usize = met.await.into_iter().sum();
    assert_eq!(all, ROUNDS * CROWD_OF);
    let waiting = cx.waiting_ids().await;
    assert!(
        waiting.is_empty(),
        "{} wait while somebody waits for them: {waiting:?}",
        waiting.len()
    );
    let to_do = cx.to_do().await;
    let mut told: Vec<_> = to_do.iter().map(bookmark_of).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((told.len(), to_do.len()), (all, all));
}

async fn spin(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

fn bookmark_of(held: &Held) -> String {
    match &held.errand.kind {
        ErrandKind::Deliver { bookmark, .. } => bookmark.to_string(),
        other => panic!("{other:?} is no delivery"),
    }
}

/// What instances were given, by how often.
type Given = Arc<Mutex<HashMap<u64, usize>>>;

/// Does a delivery as a node would: the instance waits again, for the next one.
async fn deliver(cx: &Cx, held: Held, given: &Given) {
    let ErrandKind::Deliver {
        instance,
        bookmark,
        input,
        ..
    } = held.errand.kind.clone()
    else {
        panic!("{held:?} is no delivery");
    };
    let claimed = cx.claimed(instance.as_str()).await;
    if !claimed.state.bookmarks.iter().any(|one| one.id == bookmark) {
        return cx.redirect(&held, NOW, later(600)).await.unwrap();
    }
    let mut commit = nothing(&claimed);
    let next = format!("{instance}:{}", claimed.state.next);
    commit.state().next += 1;
    commit.leave(bookmark.as_str());
    commit.wait(mark(&next, "Go"));
    commit.consumes = Some(held.clone());
    match cx.commit(commit).await {
        Ok(_) => {
            let number = input["n"].as_u64().unwrap();
            *given.lock().unwrap().entry(number).or_default() += 1;
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
            let release = lockwork::runtime::store::Release {
                due: NOW,
                counts: true,
                error: None,
            };
            cx.release(&held, release).await.unwrap();
        }
    }
}

/// Instances that wait in a loop, two thousand stimuli for any of them, and nodes that deliver.
async fn each_of_many_stimuli_is_delivered_once(cx: Cx) {
    const COUNT: u64 = 2000;
    for id in ["a", "b", "c", "d"] {
        cx.waits(id, "Go").await;
        cx.change(id, |commit| commit.state().next = 2).await;
    }
    let given = Given::default();
    let (sent, share) = (Arc::new(AtomicUsize::new(0)), COUNT / 4);
    let (seen, all_sent) = (Arc::clone(&given), Arc::clone(&sent));
    crowd(&cx, move |cx: Cx, at| {
        let (given, sent) = (Arc::clone(&seen), Arc::clone(&all_sent));
        async move {
            if at < 4 {
                // Two on each handle.
                let lane = at as u64;
                for number in lane * share..(lane + 1) * share {
                    let to = ["a", "b", "c", "d"][number as usize % 4];
                    let stimulus = event_for("Go", to).input(values(json!({ "n": number })));
                    cx.send(sending_as(&format!("s{number}"), stimulus))
                        .await
                        .unwrap();
                    sent.fetch_add(1, Ordering::AcqRel);
                }
                return;
            }
            loop {
                let over = sent.load(Ordering::Acquire) == COUNT as usize;
                let taken = cx.take(NOW, later(9), 4).await.unwrap();
                if over && taken.is_empty() && given.lock().unwrap().len() == COUNT as usize {
                    return;
                }
                if taken.is_empty() {
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                for held in taken {
                    deliver(&cx, held, &given).await;
                }
            }
        }
    })
    .await;
    let given = given.lock().unwrap();
    let twice: Vec<_> = given.iter().filter(|(_, often)| **often > 1).collect();
    assert!(twice.is_empty(), "delivered more than once: {twice:?}");
    assert_eq!(given.len() as u64, COUNT);
}

async fn a_stimulus_for_all_reaches_each_once(cx: Cx) {
    const COUNT: usize = 50;
    for at in 0..COUNT {
        cx.waits(&format!("i{at}"), "Go").await;
    }
    let sent = crowd(&cx, async |cx: Cx, at| {
        cx.send(sending_as(&format!("s{at}"), event("Go")))
            .await
            .map(drop)
            .unwrap();
    });
    sent.await;
    let to_do = cx.to_do().await;
    let mut told: Vec<_> = to_do.iter().map(bookmark_of).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!(
        (told.len(), to_do.len()),
        (COUNT, COUNT),
        "one was first at each"
    );
    let waiting = cx.waiting().await.unwrap();
    assert_eq!(
        waiting.len(),
        COUNT * (CROWD_OF - 1),
        "the others wait for each of them"
    );
}

async fn of_many_with_one_key_one_counts(cx: Cx) {
    for round in 0..20 {
        let sent = crowd(&cx, move |cx: Cx, _| async move {
            let key = format!("k{round}");
            cx.send(sending(event(&key).key(key.clone())))
                .await
                .unwrap()
                .duplicate
        });
        let counted = sent.await.into_iter().filter(|duplicate| !duplicate);
        assert_eq!(counted.count(), 1, "round {round}");
    }
    assert_eq!(cx.waiting_ids().await.len(), 20);
}

async fn commits_that_add_the_same_in_another_order_do_not_stop_each_other(cx: Cx) {
    const ROUNDS: usize = 25;
    crowd(&cx, async |cx: Cx, lane| {
        let id = format!("i{lane}");
        cx.made(&id).await;
        for round in 0..ROUNDS {
            let mut names: Vec<_> = (0..5).map(|at| format!("E{at}")).collect();
            names.rotate_left(lane % 5);
            if lane % 2 == 1 {
                names.reverse();
            }
            let mut commit = nothing(&cx.claimed(&id).await);
            for (at, name) in names.iter().enumerate() {
                commit.wait(mark(&format!("{id}:{round}-{at}"), name));
            }
            cx.commit(commit).await.unwrap();
            cx.tell(event_for(&names[0], &format!("i{}", (lane + 1) % CROWD_OF)))
                .await;
        }
    })
    .await;
    for lane in 0..CROWD_OF {
        assert_eq!(
            cx.state(&format!("i{lane}")).await.bookmarks.len(),
            ROUNDS * 5
        );
    }
}
