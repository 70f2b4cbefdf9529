//! Routes that workflows name: what starts, what is resumed, and what is answered.

use crate::{
    client::{Answer, Client, soon},
    place::Place,
};
use lockwork_core::workflow::Time;
use lockwork_flow::Definition;
use lockwork_runtime::{
    MemoryStore,
    store::{DefinitionStore, NewVersion, TriggerRow},
};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn endpoint(method: &str, path: &str, more: Value) -> Value {
    let mut with = json!({ "method": method, "path": path });
    let more = more.as_object().unwrap().clone();
    with.as_object_mut().unwrap().extend(more);
    json!({ "type": "HttpEndpoint", "id": "asked", "with": with })
}

pub(crate) fn starts(mut endpoint: Value) -> Value {
    endpoint["starts"] = true.into();
    endpoint
}

pub(crate) fn flow(activities: Value) -> Value {
    json!({
        "lockwork": 1,
        "variables": [{ "name": "request", "value": null }],
        "root": { "type": "Sequence", "id": "all", "do": activities },
    })
}

pub(crate) async fn put(client: &Client, id: &str, flow: Value) -> Answer {
    let path = format!("/v1/definitions/{id}");
    client.ask("PUT", &path, Some(flow)).await
}

/// Starts by a request, and answers with all that it brought.
pub(crate) fn echo(method: &str, path: &str, more: Value) -> Value {
    let mut asked = starts(endpoint(method, path, more));
    asked["into"] = "request".into();
    let body = json!({ "$expr": "request" });
    flow(json!([
        asked,
        { "type": "HttpResponse", "id": "answer", "with": {
            "status": 201, "headers": { "X-From": "workflow" }, "body": body } },
    ]))
}

/// Waits for a request that names its correlation, and answers.
fn approval() -> Value {
    let more = json!({ "correlation": "order", "wait": true });
    flow(json!([
        endpoint("PUT", "/orders/{order}/approval", more),
        { "type": "HttpResponse", "id": "answer", "with": { "body": { "$expr": "instance.correlation" } } },
    ]))
}

async fn waiting(client: &Client, correlation: &str) -> String {
    let start = json!({ "correlation": correlation });
    let ran = client.post("/v1/definitions/approval/start", start).await;
    ran.is(200).json()["instance"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_request_starts_an_instance_that_answers() {
    let place = Place::new().await;
    let all = &place.all;
    let more = json!({ "wait": true, "headers": ["X-Signature"] });
    let echo = echo("POST", "/orders/{order}/lines/{line}", more);
    put(all, "echo", echo).await.is(200);
    let path = "/workflows/orders/7/lines/a%2Fb%20c?color=red&size=1&size=2";
    let headers = "X-Signature: s\r\nX-Other: o\r\n";
    let request = all.request("POST", path, headers, r#"[1, { "two": 2 }]"#);
    let answer = all.send(&request).await.is(201);
    assert_eq!(answer.header("x-from"), Some("workflow"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.json(),
        json!({
            "parameters": { "order": "7", "line": "a/b c" },
            "query": { "color": "red", "size": "2" },
            "headers": { "x-signature": "s" },
            "body": [1, { "two": 2 }],
        })
    );
}

#[tokio::test]
async fn whoever_does_not_wait_is_told_which_instance_it_is() {
    let place = Place::new().await;
    let echo = echo("POST", "/orders", json!({}));
    put(&place.all, "echo", echo).await.is(200);
    let told = place.all.post("/workflows/orders", json!({})).await;
    let told = told.is(202).json();
    let id = told["instances"][0].as_str().unwrap();
    soon(async {
        loop {
            let found = place.all.get(&format!("/v1/instances/{id}")).await;
            if found.status == 200 && found.json()["state"]["subStatus"] == "finished" {
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_resumes_those_it_is_for_and_nobody_later() {
    let place = Place::new().await;
    let all = &place.all;
    put(all, "approval", approval()).await.is(200);
    let (approve, other) = (
        "/workflows/orders/a/approval",
        "/workflows/orders/b/approval",
    );
    all.ask("PUT", approve, None).await.is(404);
    let (_, second) = (waiting(all, "a").await, waiting(all, "b").await);
    let answer = all.ask("PUT", approve, None).await.is(200);
    assert_eq!(answer.text, "a");
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    all.ask("PUT", approve, None).await.is(404);
    let stranger = all.request("PUT", other, "Lockwork-Instance: nobody\r\n", "");
    all.send(&stranger).await.is(404);
    let meant = format!("Lockwork-Instance: {second}\r\n");
    let meant = all.request("PUT", other, &meant, "");
    assert_eq!(all.send(&meant).await.is(200).text, "b");
    let queue = all.get("/v1/queue").await.is(200).json();
    assert_eq!(
        queue["waiting"].as_array().map(Vec::len),
        Some(0),
        "{queue}"
    );
    waiting(all, "a").await;
    assert_eq!(all.ask("PUT", approve, None).await.is(200).text, "a");
}

#[tokio::test]
async fn of_equal_requests_on_two_nodes_one_resumes_a_bookmark() {
    let store = Arc::new(MemoryStore::new());
    let one = Place::on(Arc::clone(&store), |server| server).await;
    let two = Place::on(store, |server| server).await;
    put(&one.all, "approval", approval()).await.is(200);
    for round in 0..8 {
        let order = format!("o{round}");
        waiting(&one.all, &order).await;
        let path = format!("/workflows/orders/{order}/approval");
        let asking = (0..8).map(|number| {
            let client = if number % 2 == 0 { &one.all } else { &two.all };
            let (client, path) = (client.clone(), path.clone());
            tokio::spawn(async move { client.ask("PUT", &path, None).await.status })
        });
        let mut statuses = Vec::new();
        for asked in asking.collect::<Vec<_>>() {
            statuses.push(soon(asked).await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404, 404, 404, 404, 404, 404, 404]);
    }
}

#[tokio::test]
async fn a_route_is_known_on_another_node_as_soon_as_it_is_published() {
    let store = Arc::new(MemoryStore::new());
    let one = Place::on(Arc::clone(&store), |server| server).await;
    let two = Place::on(store, |server| server).await;
    for number in 0..3 {
        let path = format!("/orders-{number}");
        let whole = format!("/workflows{path}");
        two.all.post(&whole, json!({})).await.is(404);
        let echo = echo("POST", &path, json!({ "wait": true }));
        put(&one.all, &format!("echo-{number}"), echo).await.is(200);
        two.all.post(&whole, json!({})).await.is(201);
    }
}

#[tokio::test]
async fn a_request_starts_one_workflow_and_never_two() {
    let store = Arc::new(MemoryStore::new());
    let place = Place::on(Arc::clone(&store), |server| server).await;
    let all = &place.all;
    let first = echo("POST", "/orders/{id}", json!({}));
    put(all, "first", first.clone()).await.is(200);
    put(all, "first", first.clone()).await.is(200);
    let other = echo("POST", "/orders/{number}", json!({ "public": true }));
    let refused = put(all, "second", other.clone()).await.is(409).json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("POST /orders/{}") && detail.contains("first"),
        "{detail}"
    );
    // As if both had been published at the same moment.
    let mut json = other;
    json["id"] = "second".into();
    let definition = Definition::from_value(json).unwrap();
    let endpoint = &lockwork_flow::Endpoint::all(&definition)[0];
    let trigger = TriggerRow {
        node: "all/asked".parse().unwrap(),
        hash: endpoint.stimulus(true).unwrap().hash,
        schedule: None,
        next: None,
    };
    let new = NewVersion {
        definition: definition.clone(),
        publish: true,
        triggers: vec![trigger],
        now: Time::from_millis(0),
    };
    store.put(new).await.unwrap();
    // What is known of routes may be a moment old.
    soon(async { while all.post("/workflows/orders/7", json!({})).await.status != 409 {} }).await;
    all.post("/v1/definitions/second/retract", json!({}))
        .await
        .is(200);
    all.post("/workflows/orders/7", json!({})).await.is(202);
}

#[tokio::test]
async fn an_answer_is_for_the_request_that_it_follows() {
    let place = Place::new().await;
    let all = &place.all;
    let first = starts(endpoint("POST", "/first", json!({ "wait": true })));
    let mut second = endpoint("POST", "/second", json!({ "wait": true }));
    second["id"] = "second".into();
    let answer = json!({ "type": "HttpResponse", "id": "answer", "with": { "body": "first" } });
    let fails = json!({ "type": "Fault", "id": "no", "with": { "code": "no", "message": "no" } });
    let mut last = endpoint("POST", "/last", json!({ "wait": true }));
    last["id"] = "last".into();
    put(
        all,
        "two",
        flow(json!([first, answer, second, last, fails])),
    )
    .await
    .is(200);
    let told = all.post("/workflows/first", json!({})).await.is(200);
    assert_eq!(told.text, "first");
    all.post("/workflows/second", json!({})).await.is(202);
    let failed = all.post("/workflows/last", json!({})).await.is(500).json();
    assert_eq!(failed["type"], "urn:lockwork:faulted");
}

#[tokio::test]
async fn the_route_that_says_most_of_a_path_comes_first() {
    let place = Place::new().await;
    let all = &place.all;
    put(all, "any", echo("GET", "/{a}/{b}", json!({ "wait": true })))
        .await
        .is(200);
    put(
        all,
        "new",
        echo("GET", "/orders/new", json!({ "wait": true })),
    )
    .await
    .is(200);
    let names = |answer: Answer| {
        let json = answer.is(201).json();
        json["parameters"].as_object().unwrap().len()
    };
    soon(async { while names(all.get("/workflows/orders/new").await) != 0 {} }).await;
    assert_eq!(names(all.get("/workflows/orders/old").await), 2);
    all.post("/v1/definitions/new/retract", json!({}))
        .await
        .is(200);
    assert_eq!(names(all.get("/workflows/orders/new").await), 2);
}
