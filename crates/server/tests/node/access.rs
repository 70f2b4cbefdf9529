//! Every operation, by whoever asks: each is in the table below, and the test fails if one is missing there.

use crate::{
    client::{Client, soon},
    place::Place,
};
use lockwork_runtime::{MemoryStore, RuntimeBuilder};
use lockwork_server::{Keys, Limits, Server};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Who gets past the door.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    /// Everybody.
    Open,
    /// Whoever has a link that was signed.
    Signed,
    /// Whoever may look.
    Read,
    /// Whoever may do more than that.
    More,
}

use Door::{More, Open, Read, Signed};

/// Each operation, and who gets past the door.
const TABLE: &[(&str, Door)] = &[
    ("isAlive", Open),
    ("isReady", Open),
    ("describe", Open),
    ("measure", Read),
    ("listDefinitions", Read),
    ("getDefinition", Read),
    ("putDefinition", More),
    ("listVersions", Read),
    ("publishDefinition", More),
    ("retractDefinition", More),
    ("startInstance", More),
    ("sendEvent", More),
    ("sendStimulus", More),
    ("listTasks", Read),
    ("completeTask", More),
    ("followLink", Signed),
    ("listInstances", Read),
    ("getInstance", Read),
    ("getJournal", Read),
    ("getVariables", Read),
    ("cancelInstance", More),
    ("retryInstance", More),
    ("makeLink", More),
    ("deleteInstance", More),
    ("changeInstances", More),
    ("listQueue", Read),
    ("listDeadLetters", Read),
    ("replayDeadLetter", More),
    ("listTimers", Read),
    ("listNodes", Read),
    ("getNode", Read),
    ("pauseNode", More),
    ("resumeNode", More),
    ("drainNode", More),
    ("refresh", More),
    ("reload", More),
    ("getLock", Read),
    ("breakLock", More),
    ("listen", Read),
    ("callWorkflow", More),
];

/// What the node says that can be asked of it: method and path by name.
async fn operations(client: &Client) -> BTreeMap<String, (String, String)> {
    let document = client.get("/openapi.json").await.is(200).json();
    let mut operations = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            let path = path
                .replace("{id}", "x")
                .replace("{name}", "x")
                .replace("{link}", "x")
                .replace("{path}", "x");
            operations.insert(name.to_owned(), (method.to_uppercase(), path));
        }
    }
    operations
}

fn door(name: &str) -> Door {
    let found = TABLE.iter().find(|(known, _)| *known == name);
    found
        .unwrap_or_else(|| panic!("`{name}` is not in the table of this test: who may ask it?"))
        .1
}

/// The status of an answer, without waiting for its end: one of them never ends.
async fn status(client: &Client, method: &str, path: &str) -> u16 {
    if path == "/v1/live" {
        let (method, path) = (method.to_owned(), path.to_owned());
        return crate::looking_after::first_line(client, &method, &path).await;
    }
    client.ask(method, path, Some(json!({}))).await.status
}

#[tokio::test]
async fn whoever_has_no_key_or_a_wrong_one_gets_past_no_door_but_the_open_ones() {
    let place = Place::new().await;
    let wrong = Client {
        key: Some("lw_wrong".to_owned()),
        ..place.stranger()
    };
    let operations = operations(&place.stranger()).await;
    assert_eq!(
        operations.len(),
        TABLE.len(),
        "an operation is gone: {operations:?}"
    );
    for (name, (method, path)) in &operations {
        for client in [&place.stranger(), &wrong] {
            let status = status(client, method, path).await;
            match door(name) {
                Open => assert_ne!(status, 401, "{name}"),
                Signed => assert_eq!(status, 403, "{name}"),
                Read | More => assert_eq!(status, 401, "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn whoever_may_look_changes_nothing() {
    let place = Place::new().await;
    for (name, (method, path)) in &operations(&place.reader).await {
        let status = status(&place.reader, method, path).await;
        match door(name) {
            More => assert_eq!(status, 403, "{name}"),
            Signed => assert_eq!(status, 403, "{name}"),
            Open | Read => assert!(![401, 403].contains(&status), "{name}: {status}"),
        }
    }
}

#[tokio::test]
async fn whoever_may_do_anything_is_never_kept_out() {
    let place = Place::new().await;
    for (name, (method, path)) in &operations(&place.all).await {
        // These end the node, or need what was signed.
        if ["drainNode", "followLink"].contains(&name.as_str()) {
            continue;
        }
        let status = status(&place.all, method, path).await;
        assert!(![401, 403].contains(&status), "{name}: {status}");
    }
}

#[tokio::test]
async fn a_refusal_is_a_problem_document_that_asks_for_a_key() {
    let place = Place::new().await;
    let refused = place.stranger().get("/v1/nodes").await.is(401);
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    let problem: Value = refused.json();
    assert_eq!(problem["status"], 401);
    assert!(
        problem["detail"].as_str().unwrap().contains("Bearer"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_node_without_keys_is_bound_to_this_machine() {
    let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).build();
    let refused = Server::new(runtime).listen("0.0.0.0:0").await.unwrap_err();
    assert!(refused.to_string().contains("keys"), "{refused}");
}

#[tokio::test]
async fn a_node_without_keys_lets_in_no_page_from_elsewhere() {
    let place = Place::keyed(Keys::none(), Limits::default()).await;
    let client = place.stranger();
    client.get("/v1/nodes").await.is(200);
    let elsewhere = client.request("GET", "/v1/nodes", "Origin: https://example.com\r\n", "");
    client.send(&elsewhere).await.is(403);
    let renamed = client.request("GET", "/v1/nodes", "", "");
    let renamed = renamed.replace(&client.address.to_string(), "example.com");
    client.send(&renamed).await.is(403);
    let plain = client.request("POST", "/v1/node/drain", "", r#"{"a":1}"#);
    let plain = plain.replace("application/json", "text/plain");
    let plain = plain.replace("/v1/node/drain", "/v1/refresh");
    client.send(&plain).await.is(415);
    let here = client.request("GET", "/v1/nodes", "Origin: http://localhost:8600\r\n", "");
    soon(client.send(&here)).await.is(200);
}
