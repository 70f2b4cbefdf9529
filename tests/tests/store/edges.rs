//! What is long, strange, empty or at the end of time.

use crate::support::*;
use lockwork::{
    runtime::store::{Creation, Errand, ErrandKind, Filter, Letter, NewInstance, Reason, Release},
    workflow::{Bookmark, InstanceId, Time},
};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        the_longest_ids_are_ids,
        names_are_compared_byte_by_byte,
        every_character_comes_back,
        every_character_is_delivered,
        errands_with_long_names_are_told_apart,
        a_state_of_a_megabyte_comes_back,
        numbers_come_back_as_they_were,
        nothing_is_a_list_too,
        the_first_and_the_last_moment_are_moments,
        a_commit_with_a_thousand_of_each_counts,
    ]
}

const FIRST: Time = Time::from_millis(i64::MIN);
const LAST: Time = Time::from_millis(i64::MAX);

async fn the_longest_ids_are_ids(cx: Cx) {
    let long = "ü".repeat(InstanceId::MAX_BYTES / 2);
    let at = format!("{long}:{}", "9".repeat(31));
    let event_name = "e".repeat(60_000);
    cx.made(&long).await;
    let key = "k".repeat(1024);
    let made = NewInstance {
        key: Some(key.clone()),
        activation: Some(key.clone()),
        ..new("a")
    };
    assert_eq!(cx.create(made.clone()).await.unwrap(), Creation::New(None));
    assert_eq!(
        cx.create(made).await.unwrap(),
        Creation::SameKey(instance("a"))
    );
    cx.change(&long, |commit| {
        commit.wait(mark(&at, &event_name));
        commit.state().correlation = Some(key.clone());
        commit.errands = vec![errand(&format!("do {long}"), &long, NOW)];
    })
    .await;
    let sent = cx
        .send(sending_as(&long, event(&event_name).key(key.clone())))
        .await
        .unwrap();
    assert!(!sent.queued);
    assert_eq!(
        cx.to_do_ids().await,
        [format!("do {long}"), format!("{long}/{at}")]
    );
    let filter = Filter {
        correlation: Some(key),
        ..Filter::default()
    };
    assert_eq!(cx.list(filter).await.unwrap().len(), 1);
}

/// They are made of other names. What they are called in the store is its own affair.
async fn errands_with_long_names_are_told_apart(cx: Cx) {
    let long = |end: &str| errand(&format!("{}{end}", "x".repeat(5000)), "a", NOW);
    cx.add(vec![long("1"), long("2"), long("1")]).await.unwrap();
    cx.add(vec![long("2")]).await.unwrap();
    let taken = cx.take(NOW, later(9), 9).await.unwrap();
    assert_eq!(taken.len(), 2);
    assert!(cx.renew(&taken, later(99)).await.unwrap().is_empty());
    for held in taken {
        assert!(cx.done(&held).await.unwrap());
    }
    assert!(cx.to_do().await.is_empty());
}

async fn names_are_compared_byte_by_byte(cx: Cx) {
    let alike = [
        "a", "A", "a ", " a", "ä", "a\u{308}", "ａ", "a%", "a_", "a\\", "a'", "a\"", "a\u{ad}",
    ];
    for id in alike {
        let made = NewInstance {
            key: Some(id.to_owned()),
            activation: Some(id.to_owned()),
            ..new(id)
        };
        assert_eq!(
            cx.create(made).await.unwrap(),
            Creation::New(None),
            "{id:?}"
        );
        cx.change(id, |commit| {
            commit.state().correlation = Some(id.to_owned())
        })
        .await;
        cx.add(vec![errand(id, id, NOW)]).await.unwrap();
        assert!(!cx.tell(event("Go").key(id)).await.duplicate, "{id:?}");
    }
    for id in alike {
        assert_eq!(cx.state(id).await.instance, instance(id));
        let filter = Filter {
            correlation: Some(id.to_owned()),
            ..Filter::default()
        };
        assert_eq!(cx.list(filter).await.unwrap().len(), 1, "{id:?}");
    }
    assert_eq!(cx.to_do_ids().await, alike);
    assert!(cx.delete(&instance("a%")).await.unwrap());
    assert_eq!(
        cx.list(Filter::default()).await.unwrap().len(),
        alike.len() - 1
    );
}

/// Text that some database or other does not like.
const STRANGE: &str =
    "\u{0}\u{1}\u{7f}\r\n\t\u{2028}\u{feff}\u{fffd}\u{10ffff} 🦀 'quoted' \"twice\" \\ $1 ? :a %s";

/// What it has that an id may have.
fn of_an_id() -> String {
    STRANGE.chars().filter(|one| !one.is_control()).collect()
}

async fn every_character_comes_back(cx: Cx) {
    let mut made = new(&of_an_id());
    made.key = Some(STRANGE.to_owned());
    made.activation = Some(STRANGE.to_owned());
    made.state.correlation = Some(STRANGE.to_owned());
    made.state.name = Some(STRANGE.to_owned());
    made.state.variables = values(json!({ STRANGE: { STRANGE: [STRANGE] } }));
    let wanted = made.state.clone();
    cx.create(made.clone()).await.unwrap();
    assert_eq!(*cx.state(&of_an_id()).await, wanted);
    let same = Creation::SameKey(instance(&of_an_id()));
    assert_eq!(cx.create(made).await.unwrap(), same);
    cx.change(&of_an_id(), |commit| {
        commit.journal = vec![entry(0, STRANGE)];
        commit.wait(mark(&format!("{}:1", of_an_id()), STRANGE));
    })
    .await;
    let journal = cx.journal(&instance(&of_an_id()), 0).await.unwrap();
    assert_eq!(journal, [entry(0, STRANGE)]);
    let filter = Filter {
        correlation: Some(STRANGE.to_owned()),
        ..Filter::default()
    };
    assert_eq!(cx.list(filter).await.unwrap().len(), 1);
}

async fn every_character_is_delivered(cx: Cx) {
    let mut made = new("a");
    made.state.correlation = Some(STRANGE.to_owned());
    cx.create(made).await.unwrap();
    cx.change("a", |commit| commit.wait(mark("a:1", STRANGE)))
        .await;
    let input = values(json!({ STRANGE: STRANGE }));
    let stimulus = event_about(STRANGE, STRANGE).key(STRANGE).input(input);
    cx.send(sending_as(&of_an_id(), stimulus.clone()))
        .await
        .unwrap();
    assert!(cx.tell(stimulus.clone()).await.duplicate);
    let held = cx.to_do().await.pop().unwrap();
    assert_eq!(held.errand.id, format!("{}/a:1", of_an_id()));
    let ErrandKind::Deliver { stimulus: with, .. } = &held.errand.kind else {
        panic!("it is delivered");
    };
    assert_eq!(with.as_ref(), Some(&stimulus));
    cx.bury(&held, STRANGE, NOW).await.unwrap();
    let letter = cx.dead_letters().await.unwrap().remove(0);
    let (error, attempts) = (STRANGE.to_owned(), 1);
    assert_eq!(letter.reason, Reason::Failed { attempts, error });
    assert_eq!(letter.letter, Letter::Errand(held.errand));
}

async fn a_state_of_a_megabyte_comes_back(cx: Cx) {
    cx.made("a").await;
    let text: String = ('a'..='z').cycle().take(1 << 20).collect();
    cx.change("a", |commit| {
        commit.state().variables = values(json!({ "text": text }))
    })
    .await;
    assert_eq!(cx.state("a").await.variables["text"], json!(text));
    let claimed = cx.claimed("a").await;
    assert_eq!(claimed.state.variables["text"], json!(text));
    let stimulus = event("Go").input(values(json!({ "text": text })));
    cx.tell(stimulus.clone()).await;
    assert_eq!(cx.waiting().await.unwrap()[0].stimulus, stimulus);
}

async fn numbers_come_back_as_they_were(cx: Cx) {
    cx.made("a").await;
    let numbers = values(json!({
        "largest": u64::MAX, "smallest": i64::MIN, "huge": f64::MAX, "tiny": f64::MIN_POSITIVE,
        "tenth": 0.1, "one": 1.0, "zero": -0.0, "precise": 0.30000000000000004
    }));
    let wanted = numbers.clone();
    cx.change("a", |commit| {
        commit.state().variables = numbers;
        commit.state().next = u64::MAX;
        commit.state().entries = u64::MAX;
    })
    .await;
    let state = cx.state("a").await;
    assert_eq!(state.variables, wanted);
    assert_eq!((state.next, state.entries), (u64::MAX, u64::MAX));
}

async fn nothing_is_a_list_too(cx: Cx) {
    cx.add(Vec::new()).await.unwrap();
    assert!(cx.renew(&[], later(9)).await.unwrap().is_empty());
    assert!(cx.renew_jobs(&[], later(9)).await.unwrap().is_empty());
    assert_eq!(cx.fire(NOW, 0).await.unwrap(), 0);
    assert_eq!(cx.purge(NOW, NOW).await.unwrap(), 0);
    assert_eq!(cx.forget(NOW, 0).await.unwrap(), 0);
    assert!(cx.take(NOW, NOW, 0).await.unwrap().is_empty());
    assert!(cx.take_jobs(NOW, NOW, 0).await.unwrap().is_empty());
    cx.made("a").await;
    assert_eq!(cx.change("a", |_| {}).await.version, 1);
}

async fn the_first_and_the_last_moment_are_moments(cx: Cx) {
    let mut made = new("a");
    made.state.created = FIRST;
    cx.create(made).await.unwrap();
    cx.change("a", |commit| {
        commit.wait(alarm("a:1", LAST));
        commit.wait(Bookmark {
            created: LAST,
            ..alarm("a:2", FIRST)
        });
        commit.now = LAST;
    })
    .await;
    assert_eq!(cx.state("a").await.created, FIRST);
    assert_eq!(cx.next_due().await.unwrap(), Some(FIRST));
    assert_eq!(cx.fire(FIRST, usize::MAX).await.unwrap(), 1);
    cx.add(vec![errand("first", "b", FIRST), errand("last", "b", LAST)])
        .await
        .unwrap();
    let taken = cx.take(FIRST, LAST, usize::MAX).await.unwrap();
    assert_eq!(ids(&taken), ["timer/a:2", "first"]);
    assert!(cx.renew(&taken, LAST).await.unwrap().is_empty());
    let release = Release {
        due: FIRST,
        counts: false,
        error: None,
    };
    cx.release(&taken[1], release).await.unwrap();
    assert_eq!(cx.next_due().await.unwrap(), Some(FIRST));
    let taken = cx.take(LAST, LAST, usize::MAX).await.unwrap();
    assert_eq!(
        taken.len(),
        3,
        "what is held until the last moment is free then"
    );
    assert_eq!(cx.fire(LAST, usize::MAX).await.unwrap(), 1);
    cx.bury(&taken[0], "no", LAST).await.unwrap();
    assert_eq!(cx.purge(LAST, LAST).await.unwrap(), 0);
    assert_eq!(cx.dead_letters().await.unwrap()[0].at, LAST);
}

async fn a_commit_with_a_thousand_of_each_counts(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        for at in 0..1000 {
            let id = format!("a:{at}");
            commit.wait(mark(&id, &id));
            commit.journal.push(entry(at, &id));
            commit.errands.push(Errand {
                id: format!("do {id}"),
                ..errand("", "b", NOW)
            });
            commit.jobs.push(job(&id));
            commit.tasks.push(task(&id, "a"));
        }
    })
    .await;
    assert_eq!(cx.journal(&instance("a"), 0).await.unwrap().len(), 1000);
    assert_eq!(cx.tasks().await.unwrap().len(), 1000);
    let jobs = cx.take_jobs(NOW, later(9), usize::MAX).await.unwrap();
    assert_eq!(jobs.len(), 1000);
    assert!(cx.renew_jobs(&jobs, later(99)).await.unwrap().is_empty());
    let to_do = cx.to_do().await;
    assert_eq!(to_do.len(), 1000);
    assert!(cx.renew(&to_do, later(99)).await.unwrap().is_empty());
    cx.change("a", |commit| commit.end()).await;
    assert!(cx.tasks().await.unwrap().is_empty());
    assert_eq!(cx.renew_jobs(&jobs, later(99)).await.unwrap().len(), 1000);
}
