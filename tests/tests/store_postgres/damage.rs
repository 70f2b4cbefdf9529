//! Rows that somebody has damaged.

use crate::{node, server, support::*};
use lockwork::{
    flow::Schedule,
    runtime::store::{
        DefinitionStore, ErrandStore, InstanceStore, NewVersion, StimulusStore, TriggerRow,
    },
    workflow::{
        ErrorKind::{Unexpected, Unsupported},
        StimulusHash,
    },
};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_damaged_instance_is_told_of_and_keeps_nobody_from_the_others() {
    let server = server(&[]);
    let store = node(&server).await;
    for id in ["a", "b", "c"] {
        store.create(new(id)).await.unwrap();
    }
    server
        .sql("UPDATE lockwork.instance SET state = '{\"a' WHERE id = 'a'")
        .unwrap();
    server
        .sql("UPDATE lockwork.instance SET state = '{\"format\": 99}' WHERE id = 'b'")
        .unwrap();
    let error = store.load(&instance("a")).await.expect_err("damaged");
    assert_eq!(error.kind(), Unexpected);
    let text = error.to_string();
    assert!(
        text.contains("restore it from a backup") && text.contains("id=a"),
        "{text}"
    );
    assert_eq!(kind(store.claim(&instance("a"), "c").await), Unexpected);
    assert_eq!(kind(store.load(&instance("b")).await), Unsupported);
    assert!(store.load(&instance("c")).await.unwrap().is_some());
    assert!(store.delete(&instance("a")).await.unwrap());
    assert!(store.load(&instance("a")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_damaged_errand_keeps_nobody_from_the_others() {
    let server = server(&[]);
    let store = node(&server).await;
    let errands = ["e1", "e2", "e3"].map(|id| errand(id, "a", NOW));
    store.add(errands.to_vec()).await.unwrap();
    server
        .sql("UPDATE lockwork.errand SET body = '?' WHERE id = 'e2'")
        .unwrap();
    let taken = store.take(NOW, later(30), 10).await.unwrap();
    assert_eq!(ids(&taken), ["e1", "e3"]);
}

#[tokio::test]
async fn a_damaged_schedule_keeps_nobody_from_the_others() {
    let server = server(&[]);
    let store = node(&server).await;
    for id in ["good", "bad"] {
        let schedule = Schedule::Every(Duration::from_secs(10).into());
        let trigger = TriggerRow {
            node: crate::support::node("root/tick"),
            hash: StimulusHash::of("Timer", &json!(id), None).unwrap(),
            schedule: Some(schedule),
            next: Some(later(10)),
        };
        let new = NewVersion {
            definition: definition(id, "hello"),
            publish: true,
            triggers: vec![trigger],
            now: NOW,
        };
        store.put(new).await.unwrap();
    }
    server
        .sql("UPDATE lockwork.trigger SET schedule = '{' WHERE definition = 'bad'")
        .unwrap();
    store.fire(later(10), 9).await.unwrap();
    assert_eq!(store.take(later(10), later(99), 9).await.unwrap().len(), 1);
    assert_eq!(store.fire(later(10), 9).await.unwrap(), 0, "once");
}
