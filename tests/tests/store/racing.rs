//! Many at once, on two handles: what is to happen once happens once, and nothing is lost.

use crate::support::*;
use lockwork::{
    runtime::store::{Creation, NewInstance, NewVersion},
    workflow::ErrorKind,
};
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::task::JoinSet;

pub(crate) fn list() -> Vec<Case> {
    cases![CROWD;
        a_thousand_claims_of_one_instance_add_up,
        two_takers_never_hold_one_errand,
        long_work_is_handed_to_one,
        times_are_fired_once_by_whomever,
        of_many_that_create_one_does,
        of_many_that_put_each_gets_a_number,
        a_dead_letter_is_replayed_once_by_whomever,
        commits_and_deletes_end_well,
    ]
}

/// So many tasks, half of them on another handle.
pub(crate) const CROWD_OF: usize = 8;

/// Has a crowd do the same at once. Gives what each of them gives.
pub(crate) async fn crowd<T, F>(cx: &Cx, work: impl Fn(Cx, usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let other = cx.other().await;
    let mut tasks = JoinSet::new();
    for at in 0..CROWD_OF {
        let cx = if at % 2 == 0 { cx } else { &other };
        tasks.spawn(work(cx.clone(), at));
    }
    tasks.join_all().await
}

/// Claims and commits, with the journal as a witness. Says whether it counted.
async fn count_up(cx: &Cx) -> bool {
    let claimed = cx.claimed("a").await;
    let mut commit = nothing(&claimed);
    let sequence = commit.state.entries;
    commit.state().entries += 1;
    commit.journal = vec![entry(sequence, "counted")];
    match cx.commit(commit).await {
        Ok(committed) => {
            assert_eq!(committed.version, claimed.claim.version + 1);
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
            false
        }
    }
}

async fn a_thousand_claims_of_one_instance_add_up(cx: Cx) {
    cx.made("a").await;
    let counted = crowd(&cx, async |cx: Cx, _| {
        let mut counted = 0;
        for _ in 0..1000 / CROWD_OF {
            counted += u64::from(count_up(&cx).await);
        }
        counted
    });
    let counted: u64 = counted.await.into_iter().sum();
    let record = cx.load(&instance("a")).await.unwrap().unwrap();
    assert_eq!((record.version, record.epoch), (counted, 1000));
    assert_eq!(record.state.entries, counted);
    let journal = cx.journal(&instance("a"), 0).await.unwrap();
    let sequence: Vec<_> = journal.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequence, (0..counted).collect::<Vec<_>>());
    assert!(counted > 0 && count_up(&cx).await);
}

async fn two_takers_never_hold_one_errand(cx: Cx) {
    const COUNT: usize = 1000;
    let all = (0..COUNT)
        .map(|at| errand(&format!("e{at}"), "a", NOW))
        .collect();
    cx.add(all).await.unwrap();
    let taken = crowd(&cx, async |cx: Cx, at| {
        let mut mine = Vec::new();
        loop {
            let taken = cx.take(NOW, later(9), at + 1).await.unwrap();
            if taken.is_empty() {
                return mine;
            }
            mine.extend(taken);
        }
    });
    let taken: Vec<_> = taken.await.into_iter().flatten().collect();
    assert_eq!(taken.len(), COUNT);
    assert!(taken.iter().all(|held| held.attempt == 1));
    let different: HashSet<_> = taken.iter().map(|held| &held.errand.id).collect();
    assert_eq!(different.len(), COUNT);
}

async fn long_work_is_handed_to_one(cx: Cx) {
    const COUNT: usize = 300;
    cx.made("a").await;
    cx.change("a", |commit| {
        for at in 0..COUNT {
            let id = format!("a:{at}");
            commit.wait(mark(&id, &id));
            commit.jobs.push(job(&id));
        }
    })
    .await;
    let done = crowd(&cx, async |cx: Cx, at| {
        let mut mine = 0;
        loop {
            let taken = cx.take_jobs(NOW, later(9), at + 1).await.unwrap();
            if taken.is_empty() {
                return mine;
            }
            for job in taken {
                assert!(
                    cx.finish_job(&job, values(serde_json::json!({})), NOW)
                        .await
                        .unwrap()
                );
                mine += 1;
            }
        }
    });
    assert_eq!(done.await.into_iter().sum::<usize>(), COUNT);
    assert_eq!(cx.to_do().await.len(), COUNT);
}

async fn times_are_fired_once_by_whomever(cx: Cx) {
    const COUNT: usize = 200;
    cx.made("a").await;
    cx.change("a", |commit| {
        for at in 0..COUNT {
            commit.wait(alarm(&format!("a:{at}"), later(5)));
        }
    })
    .await;
    for id in ["u", "v", "w"] {
        crate::firing::scheduled(&cx, id, 5).await;
    }
    let fired = crowd(&cx, async |cx: Cx, at| {
        let mut mine = 0;
        loop {
            match cx.fire(later(5), at + 1).await.unwrap() {
                0 => return mine,
                fired => mine += fired,
            }
        }
    });
    assert_eq!(fired.await.into_iter().sum::<usize>(), COUNT + 3);
    let different: HashSet<_> = cx.to_do_ids().await.into_iter().collect();
    assert_eq!(different.len(), COUNT + 3);
}

async fn of_many_that_create_one_does(cx: Cx) {
    for round in 0..20 {
        let made = crowd(&cx, move |cx: Cx, at| async move {
            let id = format!("{round}-{at}");
            let keyed = NewInstance {
                key: Some(format!("key {round}")),
                ..new(&format!("k{id}"))
            };
            let only = NewInstance {
                activation: Some(format!("one {round}")),
                ..new(&format!("o{id}"))
            };
            let same = new(&format!("same {round}"));
            [
                cx.create(keyed).await.unwrap(),
                cx.create(only).await.unwrap(),
                cx.create(same).await.unwrap(),
            ]
        });
        let made = made.await;
        for way in 0..3 {
            let new = made
                .iter()
                .filter(|all| matches!(all[way], Creation::New(_)));
            assert_eq!(
                new.count(),
                1,
                "round {round}: {:?}",
                made.iter().map(|all| &all[way]).collect::<Vec<_>>()
            );
        }
        for all in &made {
            assert!(
                matches!(all[0], Creation::New(_) | Creation::SameKey(_)),
                "{all:?}"
            );
            assert!(
                matches!(all[1], Creation::New(_) | Creation::Refused(_)),
                "{all:?}"
            );
            assert!(
                matches!(all[2], Creation::New(_) | Creation::Exists),
                "{all:?}"
            );
        }
    }
}

async fn of_many_that_put_each_gets_a_number(cx: Cx) {
    let put = crowd(&cx, async |cx: Cx, at| {
        let mut mine = Vec::new();
        for round in 0..10 {
            mine.push(put_in_time(&cx, &format!("{at} says {round}")).await);
        }
        mine
    });
    let mut numbers: Vec<_> = put.await.into_iter().flatten().collect();
    numbers.sort_unstable();
    assert_eq!(
        numbers,
        (1..=u32::try_from(CROWD_OF * 10).unwrap()).collect::<Vec<_>>()
    );
    let rows = cx.versions(Some(&named("w"))).await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.published).count(), 1);
}

/// A store may say that too many were in the way, and that one should try again: nothing was put then.
async fn put_in_time(cx: &Cx, text: &str) -> u32 {
    loop {
        let new = NewVersion {
            definition: definition("w", text),
            publish: true,
            triggers: Vec::new(),
            now: NOW,
        };
        match cx.put(new).await {
            Ok(row) => return row.number,
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

async fn a_dead_letter_is_replayed_once_by_whomever(cx: Cx) {
    for round in 0..20 {
        let id = format!("x{round}");
        let held = cx.held(errand(&id, "a", NOW), later(30)).await;
        cx.bury(&held, "no", NOW).await.unwrap();
        let replayed = crowd(&cx, move |cx: Cx, at| async move {
            let again = format!("again {round} {at}");
            cx.replay(&format!("x{round}"), &again, later(1000), later(9))
                .await
                .unwrap()
        });
        assert_eq!(replayed.await.into_iter().filter(|it| *it).count(), 1);
    }
    assert_eq!(cx.to_do().await.len(), 20);
}

/// Some commit with errands, some delete, some send: nobody waits for another in a circle.
async fn commits_and_deletes_end_well(cx: Cx) {
    let rounds = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&rounds);
    crowd(&cx, move |cx: Cx, at| {
        let count = Arc::clone(&count);
        async move {
            for round in 0..30 {
                let (mine, yours) = (format!("i{}", at % 4), format!("i{}", (at + round) % 4));
                count.fetch_add(1, Ordering::AcqRel);
                match round % 5 {
                    0 => drop(cx.create(new(&mine)).await.unwrap()),
                    1 => drop(cx.delete(&instance(&yours)).await.unwrap()),
                    2 => drop(cx.tell(event_for("Go", &yours)).await),
                    3 => drop(cx.to_do().await),
                    _ => commit_some(&cx, &mine, &yours).await,
                }
            }
        }
    })
    .await;
    assert_eq!(rounds.load(Ordering::Acquire), 30 * CROWD_OF as u64);
}

async fn commit_some(cx: &Cx, mine: &str, yours: &str) {
    let Some(claimed) = cx.claim(&instance(mine), "mine").await.unwrap() else {
        return;
    };
    let mut commit = nothing(&claimed);
    let id = format!("{mine}:{}", rand::random::<u64>());
    commit.wait(mark(&id, "Go"));
    commit.errands = vec![errand(&format!("do {id}"), yours, NOW)];
    if let Err(error) = cx.commit(commit).await {
        assert!(
            matches!(error.kind(), ErrorKind::Fenced | ErrorKind::NotFound),
            "{error}"
        );
    }
}
