//! Telling those who wait, or waiting for them.

use crate::support::*;
use lockwork::{
    runtime::store::{Errand, ErrandKind, Held, NewVersion, Sending, TriggerRow},
    workflow::{Bookmark, DefinitionHandle, ErrorKind, ExecutionId, Run, Stimulus, Target},
};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        everybody_who_waits_for_it_is_told,
        whoever_sends_it_holds_what_follows_if_it_wants_to,
        a_stimulus_for_which_nobody_waits_waits_itself,
        a_fleeting_stimulus_waits_for_nobody,
        a_stimulus_goes_to_those_it_is_for,
        what_is_for_somebody_certain_waits_for_ever,
        of_two_with_one_key_one_counts,
        a_key_that_was_forgotten_counts_again,
        a_bookmark_that_is_promised_gets_it_when_it_is_its_turn,
        a_bookmark_that_stays_gets_each_of_them,
        a_stimulus_for_what_is_over_is_for_nobody,
        a_stimulus_starts_what_it_triggers,
        the_errand_that_asked_for_it_is_done,
        whoever_lost_the_errand_that_asked_tells_nobody,
        a_delivery_that_came_too_late_goes_to_another_bookmark,
        a_delivery_that_came_too_late_waits_for_another_bookmark,
        a_time_that_came_too_late_is_over,
        whoever_lost_a_delivery_does_not_redirect_it,
    ]
}

async fn everybody_who_waits_for_it_is_told(cx: Cx) {
    for (id, event) in [("a", "Go"), ("b", "Go"), ("c", "Stop"), ("d", "Go")] {
        cx.waits(id, event).await;
    }
    let stimulus = event("Go").input(values(json!({ "n": 1 })));
    let sent = cx.send(sending_as("s", stimulus.clone())).await.unwrap();
    assert!(!sent.queued && !sent.duplicate && sent.errands.is_empty());
    let to_do = cx.take(NOW, later(9), 9).await.unwrap();
    let mut told = ids(&to_do);
    told.sort_unstable();
    assert_eq!(told, ["s/a:1", "s/b:1", "s/d:1"]);
    for held in to_do {
        let ErrandKind::Deliver {
            input,
            stimulus: with,
            ..
        } = held.errand.kind
        else {
            panic!("it is delivered");
        };
        assert_eq!(
            (input, with),
            (stimulus.input.clone(), Some(stimulus.clone()))
        );
        assert_eq!(held.errand.due, NOW);
    }
    assert!(cx.waiting_ids().await.is_empty());
}

async fn whoever_sends_it_holds_what_follows_if_it_wants_to(cx: Cx) {
    cx.waits("a", "Go").await;
    let sending = Sending {
        hold: later(30),
        ..sending_as("s", event("Go"))
    };
    let sent = cx.send(sending).await.unwrap();
    assert_eq!(ids(&sent.errands), ["s/a:1"]);
    assert_eq!(sent.errands[0].attempt, 1);
    assert!(cx.take(later(29), later(99), 9).await.unwrap().is_empty());
    assert!(cx.done(&sent.errands[0]).await.unwrap());
}

async fn a_stimulus_for_which_nobody_waits_waits_itself(cx: Cx) {
    cx.waits("a", "Stop").await;
    let stimulus = event("Go").input(values(json!({ "n": 1 }))).key("k");
    let sent = cx.send(sending_as("s", stimulus.clone())).await.unwrap();
    assert!(sent.queued && !sent.duplicate && sent.errands.is_empty());
    let waiting = cx.waiting().await.unwrap().pop().unwrap();
    assert_eq!((waiting.id.as_str(), waiting.created), ("s", NOW));
    assert_eq!(
        (waiting.stimulus, waiting.expires),
        (stimulus, Some(later(600)))
    );
    assert!(cx.to_do().await.is_empty());
}

async fn a_fleeting_stimulus_waits_for_nobody(cx: Cx) {
    let fleeting = || event("Go").fleeting();
    let certain = |id: &str| {
        let mut stimulus = fleeting();
        stimulus.to.instance = Some(instance(id));
        stimulus
    };
    cx.waits("a", "Stop").await;
    for (id, stimulus) in [("r", fleeting()), ("s", certain("a"))] {
        let sent = cx.send(sending_as(id, stimulus)).await.unwrap();
        assert!(!sent.queued && sent.errands.is_empty());
    }
    cx.waits("b", "Go").await;
    assert!(cx.to_do().await.is_empty(), "nobody gets it later");
    let held = |id: &str| Sending {
        hold: later(30),
        ..sending_as(id, fleeting())
    };
    let sent = cx.send(held("t")).await.unwrap();
    assert_eq!(ids(&sent.errands), ["t/b:1"]);
    // The bookmark is promised to the first.
    let sent = cx.send(held("u")).await.unwrap();
    assert!(!sent.queued && sent.errands.is_empty());
    assert!(cx.waiting_ids().await.is_empty());
}

async fn a_stimulus_goes_to_those_it_is_for(cx: Cx) {
    for (id, correlation) in [("a", Some("7")), ("b", Some("7")), ("c", None)] {
        let mut made = new(id);
        made.state.correlation = correlation.map(str::to_owned);
        cx.create(made).await.unwrap();
        let mark = |number: u64| Bookmark {
            execution: ExecutionId::numbered(number),
            ..mark(&format!("{id}:{number}"), "Go")
        };
        cx.change(id, |commit| {
            commit.wait(mark(1));
            commit.wait(mark(2));
        })
        .await;
    }
    let to = |change: fn(&mut Stimulus)| {
        let mut stimulus = event("Go");
        change(&mut stimulus);
        stimulus
    };
    let cases = [
        (
            to(|to| to.to.instance = Some(instance("c"))),
            vec!["c:1", "c:2"],
        ),
        (to(|to| to.to.bookmark = Some(bookmark("b:2"))), vec!["b:2"]),
        (
            to(|to| to.to.correlation = Some("7".to_owned())),
            vec!["a:1", "a:2", "b:1", "b:2"],
        ),
        (
            to(|to| to.to.execution = Some(ExecutionId::numbered(2))),
            vec!["a:2", "b:2", "c:2"],
        ),
        (
            to(|to| {
                to.to.execution = Some(ExecutionId::numbered(1));
                to.to.correlation = Some("7".to_owned());
            }),
            vec!["a:1", "b:1"],
        ),
    ];
    for (stimulus, wanted) in cases {
        let addressee = stimulus.to.clone();
        let sending = Sending {
            hold: later(30),
            ..sending_as("s", stimulus)
        };
        let sent = cx.send(sending).await.unwrap().errands;
        let mut told = ids(&sent);
        told.sort_unstable();
        let wanted: Vec<_> = wanted.into_iter().map(|id| format!("s/{id}")).collect();
        assert_eq!(told, wanted, "{addressee:?}");
        for held in sent {
            assert!(cx.done(&held).await.unwrap());
        }
    }
}

async fn what_is_for_somebody_certain_waits_for_ever(cx: Cx) {
    for (stimulus, expires) in [
        (event_for("Go", "a"), None),
        (event_about("Go", "7"), Some(later(600))),
    ] {
        cx.tell(stimulus).await;
        assert_eq!(cx.waiting().await.unwrap().pop().unwrap().expires, expires);
    }
}

async fn of_two_with_one_key_one_counts(cx: Cx) {
    cx.waits("a", "Go").await;
    let first = cx
        .send(sending_as("one", event("Go").key("k")))
        .await
        .unwrap();
    assert!(!first.duplicate);
    for (id, name) in [("two", "Go"), ("three", "Stop")] {
        let again = cx.send(sending_as(id, event(name).key("k"))).await.unwrap();
        assert!(again.duplicate && !again.queued && again.errands.is_empty());
    }
    assert!(
        !cx.tell(event("Go").key("K")).await.duplicate,
        "that is another key"
    );
    assert_eq!(cx.to_do_ids().await, ["one/a:1"]);
}

async fn a_key_that_was_forgotten_counts_again(cx: Cx) {
    cx.tell(event("Go").key("k")).await;
    cx.purge(later(5), NOW).await.unwrap();
    assert!(
        cx.tell(event("Go").key("k")).await.duplicate,
        "it came then, and not before"
    );
    cx.purge(later(5), later(1)).await.unwrap();
    assert!(!cx.tell(event("Go").key("k")).await.duplicate);
}

async fn a_bookmark_that_is_promised_gets_it_when_it_is_its_turn(cx: Cx) {
    cx.waits("a", "Go").await;
    cx.waits("b", "Go").await;
    cx.send(sending_as("one", event_for("Go", "a")))
        .await
        .unwrap();
    let one = cx.take(NOW, later(30), 9).await.unwrap().pop().unwrap();
    let two = Sending {
        hold: later(30),
        ..sending_as("two", event("Go"))
    };
    let sent = cx.send(two).await.unwrap();
    assert_eq!(ids(&sent.errands), ["two/b:1"]);
    assert_eq!(cx.waiting_ids().await, ["two@a"]);
    let three = cx
        .send(sending_as("three", event_for("Go", "a")))
        .await
        .unwrap();
    assert!(three.queued);
    assert!(
        cx.done(&one).await.unwrap(),
        "whoever was promised it did not come"
    );
    assert_eq!(
        ids(&cx.take(later(1), later(30), 9).await.unwrap()),
        ["two@a/a:1"]
    );
    assert_eq!(cx.waiting_ids().await, ["three@a"]);
}

async fn a_bookmark_that_stays_gets_each_of_them(cx: Cx) {
    cx.made("a").await;
    let stays = Bookmark {
        burns: false,
        ..mark("a:1", "Go")
    };
    cx.change("a", |commit| commit.wait(stays)).await;
    for id in ["one", "two", "three"] {
        assert!(!cx.send(sending_as(id, event("Go"))).await.unwrap().queued);
    }
    assert_eq!(cx.to_do_ids().await, ["one/a:1", "two/a:1", "three/a:1"]);
}

async fn a_stimulus_for_what_is_over_is_for_nobody(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.end()).await;
    let sent = cx.tell(event_for("Go", "a")).await;
    assert!(!sent.queued && sent.errands.is_empty());
    assert!(cx.waiting_ids().await.is_empty());
    assert!(
        cx.tell(event_for("Go", "b")).await.queued,
        "that one may come"
    );
}

async fn a_stimulus_starts_what_it_triggers(cx: Cx) {
    let trigger = TriggerRow {
        node: node("root"),
        hash: hash("Go"),
        schedule: None,
        next: None,
    };
    for id in ["v", "w"] {
        let new = NewVersion {
            definition: definition(id, "hello"),
            publish: true,
            triggers: vec![trigger.clone()],
            now: NOW,
        };
        cx.put(new).await.unwrap();
    }
    cx.waits("a", "Go").await;
    let stimulus = event_about("Go", "7").input(values(json!({ "n": 1 })));
    let sent = cx.send(sending_as("s", stimulus.clone())).await.unwrap();
    assert!(!sent.queued);
    let mut made = Vec::new();
    for held in cx.take(NOW, later(30), 9).await.unwrap() {
        let ErrandKind::Start {
            instance,
            create,
            run,
        } = held.errand.kind
        else {
            panic!("the one that waits has no such correlation");
        };
        assert_eq!(create.correlation.as_deref(), Some("7"));
        assert_eq!(
            run,
            Run::at(Target::Trigger(node("root"))).input(stimulus.input.clone())
        );
        let DefinitionHandle::Version(version) = create.definition else {
            panic!("the version that counts now is meant");
        };
        made.push((version.to_string(), instance));
    }
    made.sort_unstable();
    assert_eq!(
        (made[0].0.as_str(), made[1].0.as_str(), made.len()),
        ("v:1", "w:1", 2)
    );
    assert_ne!(made[0].1, made[1].1);
    cx.send(sending_as("certain", event_for("Go", "a")))
        .await
        .unwrap();
    let certain = cx.take(NOW, later(30), 9).await.unwrap();
    assert_eq!(ids(&certain), ["certain/a:1"], "whoever is meant exists");
}

/// What asks for a stimulus.
fn send(stimulus: Stimulus) -> Errand {
    Errand {
        id: "send".to_owned(),
        kind: ErrandKind::Send(stimulus),
        due: NOW,
    }
}

async fn the_errand_that_asked_for_it_is_done(cx: Cx) {
    cx.waits("a", "Go").await;
    let held = cx.held(send(event("Go")), later(30)).await;
    let sending = Sending {
        consumes: Some(held.clone()),
        ..sending_as("s", event("Go"))
    };
    cx.send(sending).await.unwrap();
    assert!(!cx.done(&held).await.unwrap());
    assert_eq!(cx.to_do_ids().await, ["s/a:1"]);
}

async fn whoever_lost_the_errand_that_asked_tells_nobody(cx: Cx) {
    cx.waits("a", "Go").await;
    let lost = cx.lost(send(event("Go"))).await;
    let sending = Sending {
        consumes: Some(lost),
        ..sending_as("s", event("Go").key("k"))
    };
    assert_eq!(kind(cx.send(sending).await), ErrorKind::Fenced);
    assert_eq!(cx.to_do_ids().await, ["send"]);
    assert!(cx.waiting_ids().await.is_empty());
    assert!(
        !cx.tell(event("Go").key("k")).await.duplicate,
        "nobody has sent it"
    );
}

/// A delivery to the bookmark "a:1", held, and its instance waits elsewhere since.
async fn too_late(cx: &Cx, elsewhere: &str) -> Held {
    cx.waits("a", "Go").await;
    let stimulus = event("Go").input(values(json!({ "n": 1 }))).key("k");
    let sending = Sending {
        hold: later(30),
        ..sending_as("s", stimulus)
    };
    let held = cx.send(sending).await.unwrap().errands.pop().unwrap();
    cx.change("a", |commit| {
        commit.leave("a:1");
        commit.wait(mark("a:2", elsewhere));
    })
    .await;
    held
}

async fn a_delivery_that_came_too_late_goes_to_another_bookmark(cx: Cx) {
    let held = too_late(&cx, "Go").await;
    cx.redirect(&held, later(1), later(700)).await.unwrap();
    let again = cx.take(later(1), later(9), 9).await.unwrap();
    assert_eq!(ids(&again), ["s/a:1+/a:2"]);
    let ErrandKind::Deliver { input, .. } = &again[0].errand.kind else {
        panic!("it is delivered");
    };
    assert_eq!(input, &values(json!({ "n": 1 })));
    assert!(!cx.done(&held).await.unwrap());
}

async fn a_delivery_that_came_too_late_waits_for_another_bookmark(cx: Cx) {
    let held = too_late(&cx, "Stop").await;
    cx.waits("b", "Go").await;
    cx.redirect(&held, later(1), later(700)).await.unwrap();
    assert_eq!(cx.waiting_ids().await, ["s/a:1+"]);
    assert!(cx.to_do().await.is_empty(), "it was for another instance");
    cx.change("a", |commit| commit.wait(mark("a:3", "Go")))
        .await;
    assert_eq!(cx.to_do_ids().await, ["s/a:1+/a:3"]);
}

async fn a_time_that_came_too_late_is_over(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.wait(alarm("a:1", later(1))))
        .await;
    cx.fire(later(1), 9).await.unwrap();
    let held = cx.take(later(1), later(9), 9).await.unwrap().pop().unwrap();
    cx.change("a", |commit| commit.leave("a:1")).await;
    cx.redirect(&held, later(2), later(700)).await.unwrap();
    assert!(cx.to_do().await.is_empty());
    assert!(cx.waiting_ids().await.is_empty());
}

async fn whoever_lost_a_delivery_does_not_redirect_it(cx: Cx) {
    let held = too_late(&cx, "Go").await;
    assert_eq!(cx.take(later(30), later(60), 9).await.unwrap().len(), 1);
    assert_eq!(
        kind(cx.redirect(&held, later(31), later(700)).await),
        ErrorKind::Fenced
    );
    assert_eq!(cx.to_do_ids().await, ["s/a:1"]);
}
