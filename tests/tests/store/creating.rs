//! Creating instances, once.

use crate::support::*;
use lockwork::{
    runtime::store::{Claimed, Creation, Errand, ErrandKind, NewInstance},
    workflow::{Create, DefinitionHandle, ErrorKind, Run, SubStatus},
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_was_created_is_there,
        of_two_with_one_id_the_second_is_told_that_it_exists,
        of_two_with_one_key_the_second_is_told_of_the_first,
        a_key_counts_before_an_id,
        of_two_with_one_activation_the_second_is_refused_until_the_first_is_over,
        what_has_to_be_done_with_it_is_held_by_whoever_asked,
        one_that_is_created_claimed_is_changed_by_whoever_created_it,
        one_that_is_created_claimed_is_fenced_off_by_the_next_claim,
        the_errand_that_asked_for_it_is_done_once_there_is_one,
        the_errand_that_asked_for_it_stays_if_there_is_none,
        whoever_lost_the_errand_that_asked_creates_nothing,
        a_start_that_was_called_off_ends_as_soon_as_it_exists,
        what_is_there_already_is_not_ended_by_a_start_that_was_called_off,
    ]
}

async fn what_was_created_is_there(cx: Cx) {
    let mut given = state("a");
    given.correlation = Some("order-7".to_owned());
    given.name = Some("an order".to_owned());
    let made = NewInstance {
        state: given.clone(),
        ..new("a")
    };
    assert_eq!(cx.create(made).await.unwrap(), Creation::New(None));
    let record = cx.load(&instance("a")).await.unwrap().unwrap();
    assert_eq!(*record.state, given);
    assert_eq!((record.version, record.epoch), (0, 0));
    assert_eq!(record.state.sub_status, SubStatus::Pending);
    assert!(cx.journal(&instance("a"), 0).await.unwrap().is_empty());
}

async fn of_two_with_one_id_the_second_is_told_that_it_exists(cx: Cx) {
    cx.made("a").await;
    let mut second = new("a");
    second.state.correlation = Some("another".to_owned());
    second.key = Some("k".to_owned());
    second.errand = Some((errand("run", "a", NOW), later(30)));
    assert_eq!(cx.create(second).await.unwrap(), Creation::Exists);
    assert_eq!(*cx.state("a").await, state("a"));
    assert!(cx.to_do().await.is_empty());
    let third = NewInstance {
        key: Some("k".to_owned()),
        ..new("b")
    };
    assert_eq!(
        cx.create(third).await.unwrap(),
        Creation::New(None),
        "the key is free"
    );
}

async fn of_two_with_one_key_the_second_is_told_of_the_first(cx: Cx) {
    let keyed = |id| NewInstance {
        key: Some("k".to_owned()),
        ..new(id)
    };
    assert_eq!(cx.create(keyed("a")).await.unwrap(), Creation::New(None));
    let second = NewInstance {
        errand: Some((errand("run", "b", NOW), later(30))),
        ..keyed("b")
    };
    assert_eq!(
        cx.create(second).await.unwrap(),
        Creation::SameKey(instance("a"))
    );
    assert!(!cx.is_there("b").await);
    assert!(cx.to_do().await.is_empty());
    cx.change("a", |commit| commit.end()).await;
    assert_eq!(
        cx.create(keyed("c")).await.unwrap(),
        Creation::SameKey(instance("a"))
    );
}

async fn a_key_counts_before_an_id(cx: Cx) {
    let keyed = || NewInstance {
        key: Some("k".to_owned()),
        ..new("a")
    };
    cx.create(keyed()).await.unwrap();
    assert_eq!(
        cx.create(keyed()).await.unwrap(),
        Creation::SameKey(instance("a"))
    );
}

async fn of_two_with_one_activation_the_second_is_refused_until_the_first_is_over(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(only("a")).await.unwrap();
    let refused = NewInstance {
        key: Some("k".to_owned()),
        ..only("b")
    };
    assert_eq!(
        cx.create(refused).await.unwrap(),
        Creation::Refused(instance("a"))
    );
    assert!(!cx.is_there("b").await);
    let other = NewInstance {
        activation: Some("two".to_owned()),
        ..new("c")
    };
    assert_eq!(cx.create(other).await.unwrap(), Creation::New(None));
    cx.change("a", |commit| commit.wait(mark("a:1", "Go")))
        .await;
    assert_eq!(
        cx.create(only("b")).await.unwrap(),
        Creation::Refused(instance("a"))
    );
    cx.change("a", |commit| commit.end()).await;
    let again = NewInstance {
        key: Some("k".to_owned()),
        ..only("b")
    };
    assert_eq!(cx.create(again).await.unwrap(), Creation::New(None));
    assert_eq!(
        cx.create(only("d")).await.unwrap(),
        Creation::Refused(instance("b"))
    );
}

async fn what_has_to_be_done_with_it_is_held_by_whoever_asked(cx: Cx) {
    let made = NewInstance {
        errand: Some((errand("run", "a", NOW), later(30))),
        ..new("a")
    };
    let Creation::New(Some(held)) = cx.create(made).await.unwrap() else {
        panic!("it is held");
    };
    assert_eq!((&held.errand, held.attempt), (&errand("run", "a", NOW), 1));
    assert!(cx.take(later(29), later(60), 9).await.unwrap().is_empty());
    let again = cx.take(later(30), later(60), 9).await.unwrap();
    assert_eq!((again.len(), again[0].attempt), (1, 2));
    assert!(!cx.done(&held).await.unwrap());
}

/// One that whoever creates it is about to run.
fn claimed(id: &str) -> NewInstance {
    NewInstance {
        claim: Some("mine".to_owned()),
        ..new(id)
    }
}

async fn one_that_is_created_claimed_is_changed_by_whoever_created_it(cx: Cx) {
    let made = claimed("a");
    let mine = Claimed::created(&made).expect("it has a claim");
    assert_eq!(cx.create(made).await.unwrap(), Creation::New(None));
    let mut commit = nothing(&mine);
    commit.wait(mark("a:1", "Go"));
    assert_eq!(cx.commit(commit).await.unwrap().version, 1);
    let next = cx.claimed("a").await;
    assert_eq!((next.claim.epoch, next.claim.version), (2, 1));
    assert_eq!(next.committed_by.as_deref(), Some("mine"));
}

async fn one_that_is_created_claimed_is_fenced_off_by_the_next_claim(cx: Cx) {
    let made = claimed("a");
    let mine = Claimed::created(&made).expect("it has a claim");
    cx.create(made).await.unwrap();
    let next = cx.claimed("a").await;
    assert_eq!(next.claim.epoch, 2);
    assert_eq!(kind(cx.commit(nothing(&mine)).await), ErrorKind::Fenced);
    cx.commit(nothing(&next)).await.unwrap();
}

/// What asks for an instance called `id`.
fn start(id: &str) -> Errand {
    let create = Create::new(DefinitionHandle::published(named("w")));
    let (instance, run) = (instance(id), Run::default());
    let kind = ErrandKind::Start {
        instance,
        create,
        run,
    };
    Errand {
        id: format!("start {id}"),
        kind,
        due: NOW,
    }
}

async fn the_errand_that_asked_for_it_is_done_once_there_is_one(cx: Cx) {
    for (id, answer) in [
        ("a", Creation::New(None)),
        ("b", Creation::SameKey(instance("a"))),
    ] {
        let held = cx.held(start(id), later(30)).await;
        let (key, consumes) = (Some("k".to_owned()), Some(held.clone()));
        let made = NewInstance {
            key,
            consumes,
            ..new(id)
        };
        assert_eq!(cx.create(made).await.unwrap(), answer);
        assert!(!cx.done(&held).await.unwrap(), "{answer:?}");
    }
    assert!(cx.to_do().await.is_empty());
}

async fn the_errand_that_asked_for_it_stays_if_there_is_none(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(only("a")).await.unwrap();
    for (id, answer) in [
        ("a", Creation::Exists),
        ("b", Creation::Refused(instance("a"))),
    ] {
        let held = cx.held(start(id), later(30)).await;
        let made = NewInstance {
            consumes: Some(held.clone()),
            ..only(id)
        };
        assert_eq!(cx.create(made).await.unwrap(), answer);
        assert!(cx.done(&held).await.unwrap(), "{answer:?}");
    }
}

async fn whoever_lost_the_errand_that_asked_creates_nothing(cx: Cx) {
    let lost = cx.lost(start("a")).await;
    let made = NewInstance {
        key: Some("k".to_owned()),
        activation: Some("one".to_owned()),
        errand: Some((errand("run", "a", NOW), later(30))),
        consumes: Some(lost),
        ..new("a")
    };
    assert_eq!(kind(cx.create(made).await), ErrorKind::Fenced);
    assert!(!cx.is_there("a").await);
    assert_eq!(cx.to_do_ids().await, ["start a"]);
    let free = NewInstance {
        key: Some("k".to_owned()),
        activation: Some("one".to_owned()),
        ..new("b")
    };
    assert_eq!(cx.create(free).await.unwrap(), Creation::New(None));
}

async fn a_start_that_was_called_off_ends_as_soon_as_it_exists(cx: Cx) {
    let held = cx.held(start("a"), later(30)).await;
    assert_eq!(cx.request_cancel(&instance("a")).await.unwrap(), None);
    let made = NewInstance {
        consumes: Some(held),
        ..new("a")
    };
    assert_eq!(cx.create(made).await.unwrap(), Creation::New(None));
    assert!(cx.claimed("a").await.cancel);
    let held = cx.held(start("b"), later(30)).await;
    let made = NewInstance {
        consumes: Some(held),
        ..new("b")
    };
    cx.create(made).await.unwrap();
    assert!(!cx.claimed("b").await.cancel, "another one was meant");
}

async fn what_is_there_already_is_not_ended_by_a_start_that_was_called_off(cx: Cx) {
    let held = cx.held(start("a"), later(30)).await;
    cx.request_cancel(&instance("a")).await.unwrap();
    cx.made("a").await;
    let made = NewInstance {
        consumes: Some(held),
        ..new("a")
    };
    assert_eq!(cx.create(made).await.unwrap(), Creation::Exists);
    assert!(!cx.claimed("a").await.cancel);
}
