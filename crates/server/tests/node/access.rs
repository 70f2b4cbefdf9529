//! Every operation, by whoever asks: each is in the table below, and the test fails if one is missing there.

use crate::{
    client::{Client, soon},
    place::Place,
};
use lockwork_runtime::{MemoryStore, RuntimeBuilder};
use lockwork_server::{Keys, Limits, Scope, Server};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Who gets past the door.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    /// Everybody.
    Open,
    /// Whoever has a link that was signed.
    Signed,
    /// Whoever has a key that is good for this, and nobody else.
    Needs(Scope),
}

use Door::{Needs, Open, Signed};
use Scope::{Admin, Call, Define, Read, Run};

/// Each operation, and who gets past the door.
const TABLE: &[(&str, Door)] = &[
    ("isAlive", Open),
    ("isReady", Open),
    ("describe", Open),
    ("measure", Needs(Read)),
    ("listDefinitions", Needs(Read)),
    ("getDefinition", Needs(Read)),
    ("putDefinition", Needs(Define)),
    ("listVersions", Needs(Read)),
    ("publishDefinition", Needs(Define)),
    ("retractDefinition", Needs(Define)),
    ("startInstance", Needs(Run)),
    ("sendEvent", Needs(Run)),
    ("sendStimulus", Needs(Run)),
    ("listTasks", Needs(Read)),
    ("completeTask", Needs(Run)),
    ("followLink", Signed),
    ("listInstances", Needs(Read)),
    ("getInstance", Needs(Read)),
    ("getJournal", Needs(Read)),
    ("getVariables", Needs(Read)),
    ("cancelInstance", Needs(Run)),
    ("retryInstance", Needs(Run)),
    ("makeLink", Needs(Run)),
    ("deleteInstance", Needs(Admin)),
    ("changeInstances", Needs(Admin)),
    ("listQueue", Needs(Read)),
    ("listDeadLetters", Needs(Read)),
    ("replayDeadLetter", Needs(Run)),
    ("listTimers", Needs(Read)),
    ("listNodes", Needs(Read)),
    ("getNode", Needs(Read)),
    ("pauseNode", Needs(Admin)),
    ("resumeNode", Needs(Admin)),
    ("drainNode", Needs(Admin)),
    ("refresh", Needs(Define)),
    ("reload", Needs(Define)),
    ("getLock", Needs(Read)),
    ("breakLock", Needs(Admin)),
    ("listen", Needs(Read)),
    ("callWorkflow", Needs(Call)),
    ("callWorkflowByDelete", Needs(Call)),
    ("callWorkflowByGet", Needs(Call)),
    ("callWorkflowByPatch", Needs(Call)),
    ("callWorkflowByPut", Needs(Call)),
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
                Needs(_) => assert_eq!(status, 401, "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_is_good_for_one_thing_gets_past_the_doors_of_that_and_no_other() {
    let drawn = Scope::ALL.map(|scope| (scope, Keys::draw(scope.as_str(), &[scope])));
    let lines: Vec<_> = drawn.iter().map(|(_, (_, line))| line.as_str()).collect();
    let keys = Keys::from_text(&lines.join("\n")).unwrap();
    let place = Place::keyed(keys, Limits::default()).await;
    for (scope, (key, _)) in drawn {
        let client = Client {
            key: Some(key),
            ..place.stranger()
        };
        for (name, (method, path)) in &operations(&client).await {
            let door = door(name);
            // This ends the node.
            if name == "drainNode" && door == Needs(scope) {
                continue;
            }
            let status = status(&client, method, path).await;
            match door {
                Needs(wanted) if wanted != scope => assert_eq!(status, 403, "{name} by {scope}"),
                Signed => assert_eq!(status, 403, "{name} by {scope}"),
                _ => assert!(![401, 403].contains(&status), "{name} by {scope}: {status}"),
            }
        }
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
