//! Every operation, asked so that all is well: each that is described must be here.

use crate::{
    client::{Client, soon},
    described,
    endpoints::{echo, put},
    looking_after::first_line,
    place::{Place, waits},
};
use serde_json::{Value, json};

async fn definitions(all: &Client) {
    put(all, "waits", waits()).await.is(200);
    for path in ["", "/waits", "/waits/versions"] {
        all.get(&format!("/v1/definitions{path}")).await.is(200);
    }
    let publish = "/v1/definitions/waits/publish";
    all.post(publish, json!({})).await.is(200);
}

async fn started(all: &Client, id: &str) -> Value {
    let path = format!("/v1/definitions/{id}/start");
    all.post(&path, json!({})).await.is(200).json()
}

fn place_of(ran: &Value) -> String {
    format!("/v1/instances/{}", ran["instance"].as_str().unwrap())
}

async fn instances(place: &Place) {
    let all = &place.all;
    let ran = started(all, "waits").await;
    let at = place_of(&ran);
    all.get("/v1/instances").await.is(200);
    for path in ["", "/journal", "/variables"] {
        all.get(&format!("{at}{path}")).await.is(200);
    }
    let wanted = json!({ "bookmark": ran["bookmarks"][0]["id"] });
    let link = all.post(&format!("{at}/links"), wanted).await.is(200);
    let link = link.json()["path"].as_str().unwrap().to_owned();
    place.stranger().post(&link, json!({})).await.is(200);
    let other = place_of(&started(all, "waits").await);
    all.post(&format!("{other}/cancel"), json!({}))
        .await
        .is(200);
    all.ask("DELETE", &other, None).await.is(204);
    let bulk = json!({ "action": "delete", "instances": [ran["instance"]] });
    all.post("/v1/bulk/instances", bulk).await.is(200);
    let fails = json!({
        "lockwork": 1,
        "options": { "incidents": "continue" },
        "root": { "type": "Fault", "id": "no", "with": { "code": "no", "message": "no" } },
    });
    put(all, "fails", fails).await.is(200);
    let failed = place_of(&started(all, "fails").await);
    all.post(&format!("{failed}/retry"), json!({}))
        .await
        .is(200);
}

async fn stimuli(place: &Place) {
    let all = &place.all;
    all.post("/v1/events/early", json!({})).await.is(200);
    let sent = json!({ "name": "Event", "payload": { "name": "other" } });
    all.post("/v1/stimuli", sent).await.is(200);
    let root = json!({ "type": "RunTask", "id": "pack", "with": { "name": "pack" } });
    put(all, "asks", json!({ "lockwork": 1, "root": root }))
        .await
        .is(200);
    started(all, "asks").await;
    let tasks = all.get("/v1/tasks").await.is(200).json();
    let task = tasks["tasks"][0]["id"].as_str().unwrap();
    let done = format!("/v1/tasks/{}/complete", task.replace('/', "%2F"));
    all.post(&done, json!({})).await.is(200);
    all.get("/v1/queue").await.is(200);
    let letter = place.buries().await.replace('/', "%2F");
    all.get("/v1/dead-letters").await.is(200);
    let replay = format!("/v1/dead-letters/{letter}/replay");
    all.post(&replay, json!({})).await.is(200);
    all.get("/v1/timers").await.is(200);
    for method in ["DELETE", "GET", "PATCH", "POST", "PUT"] {
        let open = echo(method, "/open", json!({ "wait": true }));
        put(all, &format!("open-{method}"), open).await.is(200);
        all.ask(method, "/workflows/open", Some(json!({})))
            .await
            .is(201);
    }
}

async fn node(all: &Client) {
    soon(async { while all.get("/readyz").await.status != 200 {} }).await;
    for path in [
        "/healthz",
        "/openapi.json",
        "/metrics",
        "/v1/nodes",
        "/v1/node",
        "/v1/locks/x",
    ] {
        all.get(path).await.is(200);
    }
    let why = json!({ "why": "a test" });
    all.post("/v1/locks/x/break", why).await.is(200);
    for path in [
        "node/pause",
        "node/resume",
        "refresh",
        "reload",
        "definitions/waits/retract",
    ] {
        all.post(&format!("/v1/{path}"), json!({})).await.is(200);
    }
    let status = first_line(all, "GET", "/v1/live").await;
    described::note(all.address, "GET /v1/live HTTP/1.1", status).await;
    all.post("/v1/node/drain", json!({})).await.is(202);
}

#[tokio::test]
async fn each_operation_that_is_described_can_be_asked_so_that_all_is_well() {
    let place = Place::new().await;
    let described = described::operations(place.all.address).await.iter();
    let described = described.map(|one| one.name.clone()).collect();
    definitions(&place.all).await;
    instances(&place).await;
    stimuli(&place).await;
    node(&place.all).await;
    assert_eq!(described::well(place.all.address), described);
}
