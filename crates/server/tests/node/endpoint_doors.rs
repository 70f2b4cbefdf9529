//! Routes that workflows name: who may ask, and what is asked wrongly.

use crate::{
    client::{Client, soon},
    endpoints::{echo, put},
    place::Place,
};
use lockwork_runtime::MemoryStore;
use lockwork_server::{Keys, Limits, Scope, Server};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_workflow_is_asked_with_a_key_unless_it_says_that_everybody_may() {
    let place = Place::new().await;
    let (all, stranger) = (&place.all, place.stranger());
    put(
        all,
        "closed",
        echo("POST", "/closed", json!({ "wait": true })),
    )
    .await
    .is(200);
    let open = json!({ "wait": true, "public": true });
    put(all, "open", echo("POST", "/open", open)).await.is(200);
    let wrong = Client {
        key: Some("lw_wrong".to_owned()),
        ..stranger.clone()
    };
    for client in [&stranger, &wrong, &place.reader, all] {
        client.post("/workflows/open", json!({})).await.is(201);
    }
    for path in ["/workflows/closed", "/workflows/none", "/workflows/../x"] {
        stranger.post(path, json!({})).await.is(401);
        wrong.post(path, json!({})).await.is(401);
        place.reader.post(path, json!({})).await.is(403);
    }
    all.post("/workflows/closed", json!({})).await.is(201);
    // From this moment on, and not from a little later.
    let closed = echo("POST", "/open", json!({ "wait": true }));
    put(all, "open", closed).await.is(200);
    stranger.post("/workflows/open", json!({})).await.is(401);
    all.post("/workflows/open", json!({})).await.is(201);
}

#[tokio::test]
async fn a_key_for_other_things_asks_no_workflow() {
    let (run, line) = Keys::draw(
        "run",
        &[Scope::Read, Scope::Run, Scope::Define, Scope::Admin],
    );
    let (call, other) = Keys::draw("call", &[Scope::Call]);
    let keys = Keys::from_text(&format!("{line}\n{other}")).unwrap();
    let place = Place::keyed(keys, Limits::default()).await;
    let with = |key| Client {
        key: Some(key),
        ..place.stranger()
    };
    let (run, call) = (with(run), with(call));
    put(&run, "echo", echo("GET", "/x", json!({ "wait": true })))
        .await
        .is(200);
    run.get("/workflows/x").await.is(403);
    call.get("/workflows/x").await.is(201);
    call.get("/v1/nodes").await.is(403);
}

#[tokio::test]
async fn a_page_from_elsewhere_asks_no_workflow_of_a_node_without_keys() {
    let place = Place::keyed(Keys::none(), Limits::default()).await;
    let client = place.stranger();
    let open = json!({ "wait": true, "public": true });
    put(&client, "open", echo("GET", "/open", open))
        .await
        .is(200);
    client.get("/workflows/open").await.is(201);
    for header in ["Origin: https://example.com", "Sec-Fetch-Site: cross-site"] {
        let header = format!("{header}\r\n");
        let request = client.request("GET", "/workflows/open", &header, "");
        client.send(&request).await.is(403);
    }
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told_so() {
    let place = Place::new().await;
    let all = &place.all;
    put(
        all,
        "get",
        echo("GET", "/orders/{id}", json!({ "wait": true })),
    )
    .await
    .is(200);
    put(
        all,
        "put",
        echo("PUT", "/orders/{id}", json!({ "wait": true })),
    )
    .await
    .is(200);
    let refused = all.post("/workflows/orders/7", json!({})).await.is(405);
    assert_eq!(refused.header("allow"), Some("GET, PUT"));
    for method in ["HEAD", "OPTIONS"] {
        all.ask(method, "/workflows/orders/7", None).await.is(405);
    }
    for path in [
        "/workflows",
        "/workflows/",
        "/workflows/orders",
        "/workflows/orders/",
        "/workflows//orders/7",
        "/workflows/orders//7",
        "/workflows/orders/7/",
        "/workflows/orders/..",
        "/workflows/orders/%2e%2e",
        "/workflows/orders/../orders/7",
        "/workflows/Orders/7",
    ] {
        all.get(path).await.is(404);
    }
    for path in [
        "/workflows/orders/%00",
        "/workflows/orders/%ff",
        "/workflows/%0a/7",
    ] {
        all.get(path).await.is(400);
    }
    let long = format!("/workflows/orders/{}", "x".repeat(10_000));
    all.get(&long).await.is(201);
    let deep = format!("/workflows{}", "/x".repeat(5_000));
    all.get(&deep).await.is(404);
    let plain = all.request("PUT", "/workflows/orders/7", "", "{}");
    all.send(&plain.replace("application/json", "text/plain"))
        .await
        .is(415);
    let broken = all.request("PUT", "/workflows/orders/7", "", "{");
    all.send(&broken).await.is(400);
}

#[tokio::test]
async fn a_node_that_takes_no_work_asks_to_come_again() {
    let place = Place::new().await;
    let all = &place.all;
    put(all, "echo", echo("POST", "/x", json!({ "wait": true })))
        .await
        .is(200);
    all.post("/v1/node/pause", json!({})).await.is(200);
    let refused = all.post("/workflows/x", json!({})).await.is(503);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    all.post("/v1/node/resume", json!({})).await.is(200);
    all.post("/workflows/x", json!({})).await.is(201);
}

#[tokio::test]
async fn the_limits_of_a_node_are_those_of_its_workflows() {
    let mut limits = Limits::default();
    limits.body = 100;
    let place = Place::with(limits).await;
    let all = &place.all;
    let short = echo("POST", "/x", json!({ "wait": true }));
    let row = place.runtime.definitions();
    let mut json = short;
    json["id"] = "echo".into();
    let definition = lockwork_flow::Definition::from_value(json).unwrap();
    row.publish(definition).await.unwrap();
    all.post("/workflows/x", json!("x".repeat(50)))
        .await
        .is(201);
    all.post("/workflows/x", json!("x".repeat(200)))
        .await
        .is(413);
}

#[tokio::test]
async fn workflows_are_asked_where_the_node_has_them() {
    let hooks = |server: Server| server.workflows_at("/hooks/in");
    let place = Place::on(Arc::new(MemoryStore::new()), hooks).await;
    let all = &place.all;
    put(all, "echo", echo("POST", "/x", json!({ "wait": true })))
        .await
        .is(200);
    soon(all.post("/hooks/in/x", json!({}))).await.is(201);
    all.post("/workflows/x", json!({})).await.is(404);
    let document = all.get("/openapi.json").await.is(200).json();
    assert!(document["paths"]["/hooks/in/{path}"]["post"].is_object());
    let taken = Server::new(place.runtime.clone()).workflows_at("/v1");
    let refused = taken.listen("127.0.0.1:0").await.unwrap_err();
    assert!(refused.to_string().contains("of their own"), "{refused}");
}
