//! Many at once on one handle, so that they share what they can: each has an answer of its own all the same.

use crate::support::*;
use lockwork::{
    runtime::store::{Claimed, Commit, Creation, NewInstance},
    workflow::{ErrorKind, InstanceId},
};
use std::future::Future;
use tokio::task::JoinSet;

pub(crate) fn list() -> Vec<Case> {
    cases![CROWD;
        of_many_that_are_created_at_once_each_is_new_once,
        of_many_that_are_claimed_at_once_each_is_claimed_by_itself,
        one_that_is_refused_keeps_none_of_the_others_from_counting,
        what_many_leave_behind_at_once_is_gone,
    ]
}

/// So many.
const MANY: usize = 100;

/// All at once, in any order; their answers by number.
async fn at_once<T, F>(count: usize, work: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for at in 0..count {
        let work = work(at);
        tasks.spawn(async move { (at, work.await) });
    }
    let mut done = tasks.join_all().await;
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

fn id(at: usize) -> String {
    format!("i{at}")
}

/// An instance that whoever creates it is about to run.
fn begun(at: usize) -> NewInstance {
    NewInstance {
        errand: Some((errand(&format!("run {at}"), &id(at), NOW), later(30))),
        claim: Some(format!("claim {at}")),
        ..new(&id(at))
    }
}

/// What is needed to go on with it.
async fn mine(cx: &Cx, at: usize) -> Commit {
    let new = begun(at);
    let mut commit = nothing(&Claimed::created(&new).expect("it has a claim"));
    let Creation::New(Some(held)) = cx.create(new).await.unwrap() else {
        panic!("it is new, and held");
    };
    commit.consumes = Some(*held);
    commit.journal = vec![entry(0, "ran")];
    commit
}

/// All of them, created at once.
async fn all_mine(cx: &Cx) -> Vec<Commit> {
    let made = at_once(MANY, |at| {
        let cx = cx.clone();
        async move { mine(&cx, at).await }
    });
    made.await
}

async fn of_many_that_are_created_at_once_each_is_new_once(cx: Cx) {
    let created = at_once(2 * MANY, |at| {
        let cx = cx.clone();
        async move { cx.create(begun(at % MANY)).await.unwrap() }
    });
    let created = created.await;
    for (one, other) in created[..MANY].iter().zip(&created[MANY..]) {
        let (new, exists) = match (one, other) {
            (Creation::New(held), exists) | (exists, Creation::New(held)) => (held, exists),
            other => panic!("{other:?}"),
        };
        assert_eq!(*exists, Creation::Exists);
        assert_eq!(new.as_ref().map(|held| held.attempt), Some(1));
    }
    assert!(cx.take(later(29), later(60), 9).await.unwrap().is_empty());
    assert_eq!(cx.to_do().await.len(), MANY);
}

async fn of_many_that_are_claimed_at_once_each_is_claimed_by_itself(cx: Cx) {
    all_mine(&cx).await;
    let claimed = at_once(2 * MANY, |at| {
        let (cx, claim) = (cx.clone(), format!("next {at}"));
        async move {
            let instance = InstanceId::new(&id(at / 2 * 2)).unwrap();
            cx.claim(&instance, &claim).await.unwrap()
        }
    });
    for (at, claimed) in claimed.await.into_iter().enumerate() {
        let there = at < MANY;
        assert_eq!(claimed.is_some(), there, "{at}");
        if let Some(claimed) = claimed {
            assert_eq!(claimed.claim.id, format!("next {at}"));
            assert_eq!(claimed.state.instance.as_str(), id(at / 2 * 2));
            assert!([2, 3].contains(&claimed.claim.epoch));
        }
    }
}

/// Every seventh has lost its claim, and every fifth its errand.
async fn one_that_is_refused_keeps_none_of_the_others_from_counting(cx: Cx) {
    let mut all = all_mine(&cx).await;
    for (at, commit) in all.iter_mut().enumerate() {
        commit.stays = at % 3 == 0;
        match at {
            _ if at % 7 == 0 => commit.claim.id = "another".to_owned(),
            _ if at % 5 == 0 => {
                let held = commit.consumes.as_mut().expect("it has one");
                held.hold = "another".to_owned();
            }
            _ if at % 2 == 0 => commit.end(),
            _ => {}
        }
    }
    let committed = at_once(MANY, |at| {
        let (cx, commit) = (cx.clone(), all[at].clone());
        async move { cx.commit(commit).await }
    });
    for (at, committed) in committed.await.into_iter().enumerate() {
        let counts = at % 7 != 0 && at % 5 != 0;
        match committed {
            Ok(committed) => assert!(counts && committed.version == 1, "{at}"),
            Err(error) => assert!(
                !counts && error.kind() == ErrorKind::Fenced,
                "{at}: {error}"
            ),
        }
        let instance = InstanceId::new(&id(at)).unwrap();
        let journal = cx.journal(&instance, 0).await.unwrap();
        assert_eq!(journal.len(), usize::from(counts), "{at}");
        let record = cx.load(&instance).await.unwrap().unwrap();
        assert_eq!(record.version, u64::from(counts), "{at}");
    }
    let left = cx.to_do().await.into_iter();
    let mut left: Vec<_> = left.map(|held| held.errand.id).collect();
    let stays = |at: &usize| [7, 5, 3].iter().any(|n| at.is_multiple_of(*n));
    let mut wanted: Vec<_> = (0..MANY)
        .filter(stays)
        .map(|at| format!("run {at}"))
        .collect();
    left.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(left, wanted);
}

async fn what_many_leave_behind_at_once_is_gone(cx: Cx) {
    for at in 0..MANY {
        cx.waits(&id(at), &format!("Go {at}")).await;
        // Nobody waits for it, and nobody will.
        assert!(cx.tell(event_for("Never", &id(at))).await.queued);
    }
    let committed = at_once(MANY, |at| {
        let cx = cx.clone();
        async move {
            let mut commit = nothing(&cx.claimed(&id(at)).await);
            commit.leave(&format!("{}:1", id(at)));
            commit.end();
            cx.commit(commit).await.unwrap()
        }
    });
    assert!(committed.await.iter().all(|one| one.version == 2));
    assert!(cx.waiting().await.unwrap().is_empty());
    for at in 0..MANY {
        let sent = cx.tell(event(&format!("Go {at}"))).await;
        assert!(sent.queued, "nobody waits any more");
    }
}
