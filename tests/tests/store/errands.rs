//! Handing out what has to be done.

use crate::support::*;
use lockwork::{
    runtime::store::{DeadLetter, Errand, ErrandKind, Held, Letter, Reason, Release},
    workflow::ErrorKind,
};
use std::{collections::HashSet, slice::from_ref};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_is_added_twice_is_one,
        what_is_due_first_is_handed_out_first,
        nothing_is_handed_out_before_it_is_due,
        no_more_is_handed_out_than_somebody_wants,
        nobody_else_is_handed_it_until_the_hold_is_over,
        a_hold_counts_until_another_is_handed_it,
        whoever_renews_keeps_what_it_has_and_is_told_what_it_has_not,
        what_is_released_is_handed_out_when_it_is_due_again,
        a_release_that_does_not_count_is_no_attempt,
        a_release_by_whoever_lost_it_changes_nothing,
        what_is_done_is_done_once,
        what_cannot_be_done_is_a_dead_letter,
        whoever_lost_it_cannot_bury_it,
        a_time_that_was_buried_does_not_come_again,
        the_next_thing_that_is_due_is_known_whatever_it_is,
        what_is_called_after_something_that_is_gone_is_added_again,
    ]
}

fn release(due: i64, counts: bool) -> Release {
    Release {
        due: later(due),
        counts,
        error: Some("not now".to_owned()),
    }
}

async fn what_is_added_twice_is_one(cx: Cx) {
    cx.add(vec![errand("x", "a", NOW), errand("x", "b", later(9))])
        .await
        .unwrap();
    cx.add(vec![errand("x", "c", later(-9)), errand("y", "c", NOW)])
        .await
        .unwrap();
    let to_do = cx.to_do().await;
    assert_eq!(ids(&to_do), ["x", "y"]);
    assert_eq!(
        to_do[0].errand,
        errand("x", "a", NOW),
        "it stays what it was"
    );
}

async fn what_is_due_first_is_handed_out_first(cx: Cx) {
    for (id, due) in [("d", 2), ("c", 1), ("b", 2), ("a", 1)] {
        cx.add(vec![errand(id, "i", later(due))]).await.unwrap();
    }
    let two = cx.take(later(5), later(50), 2).await.unwrap();
    assert_eq!(ids(&two), ["c", "a"], "and of those, what was added first");
    assert_eq!(
        ids(&cx.take(later(5), later(50), 9).await.unwrap()),
        ["d", "b"]
    );
}

async fn nothing_is_handed_out_before_it_is_due(cx: Cx) {
    cx.add(vec![errand("x", "a", later(5))]).await.unwrap();
    assert!(cx.take(later(4), later(50), 9).await.unwrap().is_empty());
    assert_eq!(cx.take(later(5), later(50), 9).await.unwrap().len(), 1);
}

async fn no_more_is_handed_out_than_somebody_wants(cx: Cx) {
    let all = (0..5)
        .map(|at| errand(&format!("e{at}"), "a", NOW))
        .collect();
    cx.add(all).await.unwrap();
    for (limit, wanted) in [(0, 0), (2, 2), (1, 1), (9, 2), (9, 0)] {
        assert_eq!(cx.take(NOW, later(9), limit).await.unwrap().len(), wanted);
    }
}

async fn nobody_else_is_handed_it_until_the_hold_is_over(cx: Cx) {
    let other = cx.other().await;
    let first = cx.held(errand("x", "a", NOW), later(10)).await;
    assert_eq!(first.attempt, 1);
    assert!(other.take(later(9), later(99), 9).await.unwrap().is_empty());
    let second = other
        .take(later(10), later(99), 9)
        .await
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!((second.attempt, &second.errand), (2, &first.errand));
    assert_ne!(first.hold, second.hold);
}

async fn a_hold_counts_until_another_is_handed_it(cx: Cx) {
    let held = cx.held(errand("x", "a", NOW), later(10)).await;
    assert!(
        cx.renew(from_ref(&held), later(99))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(cx.take(later(98), later(99), 9).await.unwrap().is_empty());
    assert!(
        cx.done(&held).await.unwrap(),
        "it was late, and nobody else came"
    );
}

async fn whoever_renews_keeps_what_it_has_and_is_told_what_it_has_not(cx: Cx) {
    let lost = cx.lost(errand("lost", "a", NOW)).await;
    let done = cx.held(errand("done", "a", NOW), later(10)).await;
    cx.done(&done).await.unwrap();
    let kept = cx.held(errand("kept", "a", NOW), later(10)).await;
    let told = cx
        .renew(&[kept.clone(), lost.clone(), done.clone()], later(500))
        .await
        .unwrap();
    assert_eq!(
        HashSet::from_iter(told),
        HashSet::from([lost.hold, done.hold])
    );
    assert!(cx.take(later(499), later(999), 9).await.unwrap().is_empty());
    assert_eq!(
        ids(&cx.take(later(500), later(999), 9).await.unwrap()),
        ["kept"]
    );
    assert_eq!(
        cx.renew(from_ref(&kept), later(999)).await.unwrap(),
        [kept.hold]
    );
}

async fn what_is_released_is_handed_out_when_it_is_due_again(cx: Cx) {
    let held = cx.held(errand("x", "a", NOW), later(10)).await;
    cx.release(&held, release(5, true)).await.unwrap();
    assert!(!cx.done(&held).await.unwrap(), "it is not held any more");
    assert!(cx.take(later(4), later(99), 9).await.unwrap().is_empty());
    let again = cx
        .take(later(5), later(99), 9)
        .await
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!((again.attempt, again.errand), (2, held.errand));
}

async fn a_release_that_does_not_count_is_no_attempt(cx: Cx) {
    let held = cx.held(errand("x", "a", NOW), later(10)).await;
    cx.release(&held, release(5, false)).await.unwrap();
    let again = cx
        .take(later(5), later(99), 9)
        .await
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!(again.attempt, 1);
}

async fn a_release_by_whoever_lost_it_changes_nothing(cx: Cx) {
    let lost = cx.lost(errand("x", "a", NOW)).await;
    cx.release(&lost, release(0, false)).await.unwrap();
    assert!(
        cx.take(later(999), later(2000), 9)
            .await
            .unwrap()
            .is_empty()
    );
    let again = cx
        .take(later(1000), later(2000), 9)
        .await
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!(again.attempt, 3);
}

async fn what_is_done_is_done_once(cx: Cx) {
    let held = cx.held(errand("x", "a", NOW), later(10)).await;
    assert!(cx.done(&held).await.unwrap());
    assert!(!cx.done(&held).await.unwrap());
    let lost = cx.lost(errand("y", "a", NOW)).await;
    assert!(!cx.done(&lost).await.unwrap());
    assert_eq!(cx.to_do_ids().await, ["y"]);
}

async fn what_cannot_be_done_is_a_dead_letter(cx: Cx) {
    let first = cx.held(errand("x", "a", NOW), later(10)).await;
    cx.release(&first, release(0, true)).await.unwrap();
    let held = cx.take(NOW, later(10), 9).await.unwrap().pop().unwrap();
    cx.bury(&held, "no \"room\"", later(1)).await.unwrap();
    let letter = DeadLetter {
        id: "x".to_owned(),
        letter: Letter::Errand(errand("x", "a", NOW)),
        reason: Reason::Failed {
            attempts: 2,
            error: "no \"room\"".to_owned(),
        },
        at: later(1),
        replayed: None,
    };
    assert_eq!(cx.dead_letters().await.unwrap(), [letter]);
    assert!(cx.to_do().await.is_empty());
}

async fn whoever_lost_it_cannot_bury_it(cx: Cx) {
    let lost = cx.lost(errand("x", "a", NOW)).await;
    assert_eq!(kind(cx.bury(&lost, "no", NOW).await), ErrorKind::Fenced);
    assert!(cx.dead_letters().await.unwrap().is_empty());
    assert_eq!(cx.to_do_ids().await, ["x"]);
}

async fn a_time_that_was_buried_does_not_come_again(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.wait(alarm("a:1", later(5))))
        .await;
    assert_eq!(cx.fire(later(5), 9).await.unwrap(), 1);
    let held = cx.take(later(5), later(9), 9).await.unwrap().pop().unwrap();
    cx.bury(&held, "no", later(6)).await.unwrap();
    assert_eq!(cx.fire(later(100), 9).await.unwrap(), 0);
    assert_eq!(cx.next_due().await.unwrap(), None);
    assert!(
        !cx.tell(event("a:1")).await.queued,
        "it still waits for its event"
    );
}

async fn the_next_thing_that_is_due_is_known_whatever_it_is(cx: Cx) {
    let mut wanted = Vec::new();
    cx.add(vec![errand("x", "b", later(90))]).await.unwrap();
    wanted.push(cx.next_due().await.unwrap());
    crate::firing::scheduled(&cx, "w", 80).await;
    wanted.push(cx.next_due().await.unwrap());
    cx.made("a").await;
    cx.change("a", |commit| commit.wait(alarm("a:1", later(70))))
        .await;
    wanted.push(cx.next_due().await.unwrap());
    assert_eq!(wanted, [Some(later(90)), Some(later(80)), Some(later(70))]);
    cx.change("a", |commit| commit.jobs = vec![job("a:1")])
        .await;
    assert!(
        cx.next_due().await.unwrap().is_some_and(|due| due <= NOW),
        "a job waits for nothing"
    );
    cx.take_jobs(NOW, later(60), 9).await.unwrap();
    assert_eq!(
        cx.next_due().await.unwrap(),
        Some(later(60)),
        "then its hold is over"
    );
    cx.held(errand("y", "b", NOW), later(50)).await;
    assert_eq!(
        cx.next_due().await.unwrap(),
        Some(later(50)),
        "so is that of an errand"
    );
}

async fn what_is_called_after_something_that_is_gone_is_added_again(cx: Cx) {
    let deliver = |id: &str, at: &str| Errand {
        id: id.to_owned(),
        kind: ErrandKind::Deliver {
            instance: instance("a"),
            bookmark: bookmark(at),
            input: values(serde_json::json!({})),
            stimulus: None,
        },
        due: NOW,
    };
    for round in 1..=2 {
        let held: Held = cx.held(deliver("x", "a:1"), later(10)).await;
        assert_eq!(held.attempt, 1, "round {round}");
        assert!(cx.done(&held).await.unwrap());
    }
}
