//! What was not done, and doing it once more.

use crate::support::*;
use lockwork::{
    runtime::store::{DeadLetter, Letter, Reason},
    workflow::Time,
};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_has_waited_too_long_becomes_a_dead_letter,
        what_may_wait_for_ever_does,
        dead_letters_are_forgotten_after_a_while,
        a_stimulus_is_replayed_once_under_another_name,
        a_stimulus_that_is_replayed_waits_again_if_nobody_does,
        an_errand_is_replayed_once_under_another_name,
        what_is_no_dead_letter_is_not_replayed,
    ]
}

async fn letters(cx: &Cx) -> Vec<String> {
    let letters = cx.dead_letters().await.unwrap();
    let mut ids: Vec<_> = letters.into_iter().map(|letter| letter.id).collect();
    ids.sort_unstable();
    ids
}

/// A stimulus that nobody has waited for.
async fn expired(cx: &Cx, id: &str) -> DeadLetter {
    let stimulus = event("Go")
        .input(values(json!({ "n": 1 })))
        .key(format!("key of {id}"));
    cx.send(sending_as(id, stimulus)).await.unwrap();
    assert_eq!(cx.purge(later(600), Time::default()).await.unwrap(), 1);
    let letters = cx.dead_letters().await.unwrap();
    letters.into_iter().find(|letter| letter.id == id).unwrap()
}

async fn what_has_waited_too_long_becomes_a_dead_letter(cx: Cx) {
    cx.send(sending_as("s", event("Go"))).await.unwrap();
    assert_eq!(cx.purge(later(599), NOW).await.unwrap(), 0);
    assert_eq!(cx.waiting_ids().await, ["s"]);
    let waiting = cx.waiting().await.unwrap().pop().unwrap();
    assert_eq!(cx.purge(later(600), NOW).await.unwrap(), 1);
    assert_eq!(cx.purge(later(600), NOW).await.unwrap(), 0);
    assert!(cx.waiting_ids().await.is_empty());
    let letter = DeadLetter {
        id: "s".to_owned(),
        letter: Letter::Stimulus(waiting),
        reason: Reason::Expired,
        at: later(600),
        replayed: None,
    };
    assert_eq!(cx.dead_letters().await.unwrap(), [letter]);
    cx.waits("a", "Go").await;
    assert!(cx.to_do().await.is_empty(), "nobody gets it any more");
}

async fn what_may_wait_for_ever_does(cx: Cx) {
    cx.send(sending_as("s", event_for("Go", "a")))
        .await
        .unwrap();
    assert_eq!(cx.purge(Time::from_millis(i64::MAX), NOW).await.unwrap(), 0);
    assert_eq!(cx.waiting_ids().await, ["s"]);
}

async fn dead_letters_are_forgotten_after_a_while(cx: Cx) {
    expired(&cx, "s").await;
    let held = cx.held(errand("x", "a", NOW), later(30)).await;
    cx.bury(&held, "no", later(700)).await.unwrap();
    cx.purge(later(800), later(600)).await.unwrap();
    assert_eq!(letters(&cx).await, ["s", "x"]);
    cx.purge(later(800), later(601)).await.unwrap();
    assert_eq!(letters(&cx).await, ["x"]);
    cx.purge(later(800), later(701)).await.unwrap();
    assert!(letters(&cx).await.is_empty());
}

async fn a_stimulus_is_replayed_once_under_another_name(cx: Cx) {
    expired(&cx, "s").await;
    cx.waits("a", "Go").await;
    assert!(
        cx.replay("s", "again", later(700), later(1300))
            .await
            .unwrap()
    );
    assert!(
        !cx.replay("s", "and again", later(701), later(1300))
            .await
            .unwrap()
    );
    assert_eq!(cx.to_do_ids().await, ["again/a:1"]);
    assert_eq!(
        cx.dead_letters().await.unwrap()[0].replayed,
        Some(later(700))
    );
}

async fn a_stimulus_that_is_replayed_waits_again_if_nobody_does(cx: Cx) {
    expired(&cx, "s").await;
    assert!(
        cx.replay("s", "again", later(700), later(1300))
            .await
            .unwrap()
    );
    let waiting = cx.waiting().await.unwrap().pop().unwrap();
    assert_eq!(
        (waiting.id.as_str(), waiting.created),
        ("again", later(700))
    );
    assert_eq!(
        (waiting.expires, waiting.stimulus.key),
        (Some(later(1300)), None)
    );
}

async fn an_errand_is_replayed_once_under_another_name(cx: Cx) {
    let held = cx.held(errand("x", "a", NOW), later(30)).await;
    cx.bury(&held, "no", later(5)).await.unwrap();
    assert!(
        cx.replay("x", "again", later(700), later(1300))
            .await
            .unwrap()
    );
    assert!(
        !cx.replay("x", "and again", later(701), later(1300))
            .await
            .unwrap()
    );
    assert!(cx.take(later(699), later(999), 9).await.unwrap().is_empty());
    let again = cx.take(later(700), later(999), 9).await.unwrap();
    assert_eq!(
        (ids(&again), again[0].attempt),
        (vec!["again".to_owned()], 1)
    );
    assert_eq!(again[0].errand.kind, held.errand.kind);
}

async fn what_is_no_dead_letter_is_not_replayed(cx: Cx) {
    cx.send(sending_as("s", event("Go"))).await.unwrap();
    for id in ["s", "nobody"] {
        assert!(!cx.replay(id, "again", NOW, later(9)).await.unwrap());
    }
    assert_eq!(cx.waiting_ids().await, ["s"]);
}
