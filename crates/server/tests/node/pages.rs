//! Lists that may be long come page by page.

use crate::{
    client::Client,
    place::{Place, waits},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// All of a list, in pages of two, each thing as often as it comes.
async fn all(client: &Client, path: &str, list: &str) -> Vec<Value> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("{path}?limit=2{after}");
        let page = client.get(&path).await.is(200).json();
        let items = page[list].as_array().unwrap();
        assert!((1..=2).contains(&items.len()), "{path}: {page}");
        found.extend(items.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return found,
        }
    }
}

async fn adds_up(client: &Client, path: &str, list: &str, field: &str, many: usize) {
    let found = all(client, path, list).await;
    let different: BTreeSet<_> = found.iter().map(|one| one[field].to_string()).collect();
    assert_eq!((found.len(), different.len()), (many, many), "{path}");
    for wrong in ["limit=0", "limit=1001", "limit=x", "after=x", "other=x"] {
        client.get(&format!("{path}?{wrong}")).await.is(400);
    }
    let whole = client.get(&format!("{path}?limit=1000")).await.is(200);
    let whole = whole.json();
    assert_eq!(whole[list].as_array(), Some(&found), "{path}");
    assert!(whole["next"].is_null(), "{path}: {whole}");
}

#[tokio::test]
async fn pages_add_up_to_all_that_waits_and_all_that_was_not_done() {
    let place = Place::new().await;
    for number in 0..5 {
        let event = format!("/v1/events/early-{number}");
        place.all.post(&event, json!({})).await.is(200);
    }
    adds_up(&place.reader, "/v1/queue", "waiting", "id", 5).await;
    place.buries().await;
    adds_up(&place.reader, "/v1/dead-letters", "deadLetters", "id", 5).await;
}

#[tokio::test]
async fn pages_add_up_to_all_tasks() {
    let place = Place::new().await;
    let root = json!({ "type": "RunTask", "id": "pack", "with": { "name": "pack" } });
    let asks = json!({ "lockwork": 1, "root": root });
    let put = place.all.ask("PUT", "/v1/definitions/asks", Some(asks));
    put.await.is(200);
    for _ in 0..5 {
        let start = "/v1/definitions/asks/start";
        place.all.post(start, json!({})).await.is(200);
    }
    adds_up(&place.reader, "/v1/tasks", "tasks", "id", 5).await;
}

#[tokio::test]
async fn pages_add_up_to_all_definitions_and_all_their_versions() {
    let place = Place::new().await;
    for number in 0..5 {
        let path = format!("/v1/definitions/w{number}");
        place.all.ask("PUT", &path, Some(waits())).await.is(200);
        let mut other = waits();
        other["root"]["do"][1]["with"]["text"] = number.into();
        let path = "/v1/definitions/many";
        place.all.ask("PUT", path, Some(other)).await.is(200);
    }
    adds_up(&place.reader, "/v1/definitions", "definitions", "id", 6).await;
    let versions = "/v1/definitions/many/versions";
    adds_up(&place.reader, versions, "definitions", "number", 5).await;
}

#[tokio::test]
async fn a_journal_says_where_it_goes_on() {
    let place = Place::new().await;
    let journal = format!("/v1/instances/{}/journal", place.waiting().await);
    let whole = place.reader.get(&journal).await.is(200).json();
    assert!(whole["next"].is_null(), "{whole}");
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let path = format!("{journal}?limit=1&from={from}");
        let page = place.reader.get(&path).await.is(200).json();
        let entries = page["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "{page}");
        found.extend(entries.iter().cloned());
        match page["next"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(whole["entries"].as_array(), Some(&found));
    let wrong = format!("{journal}?limit=1001");
    place.reader.get(&wrong).await.is(400);
}

#[tokio::test]
async fn a_list_has_a_hundred_unless_more_are_asked_for() {
    let place = Place::new().await;
    for number in 0..101 {
        let event = format!("/v1/events/early-{number}");
        place.all.post(&event, json!({})).await.is(200);
    }
    let queue = place.reader.get("/v1/queue").await.is(200).json();
    assert_eq!(queue["waiting"].as_array().unwrap().len(), 100);
    assert!(queue["next"].is_string(), "{}", queue["next"]);
}
