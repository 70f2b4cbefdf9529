//! What is asked and what is answered: each operation at least once.

use crate::{
    client::soon,
    place::{Place, waits},
};
use serde_json::json;

#[tokio::test]
async fn a_definition_is_put_published_and_retracted() {
    let place = Place::new().await;
    let all = &place.all;
    let put = all
        .ask("PUT", "/v1/definitions/waits?publish=false", Some(waits()))
        .await;
    let put = put.is(200).json();
    assert_eq!(
        (&put["number"], &put["published"]),
        (&json!(1), &json!(false))
    );
    all.post("/v1/definitions/waits/start", json!({}))
        .await
        .is(404);
    let published = all
        .post("/v1/definitions/waits/publish", json!({}))
        .await
        .is(200)
        .json();
    assert_eq!(published["published"], true);
    let got = all
        .get("/v1/definitions/waits?version=published")
        .await
        .is(200)
        .json();
    assert_eq!(got["definition"]["root"]["id"], "all");
    let listed = all.get("/v1/definitions").await.is(200).json();
    assert_eq!(listed["definitions"][0]["id"], "waits");
    let versions = all
        .get("/v1/definitions/waits/versions")
        .await
        .is(200)
        .json();
    assert_eq!(versions["definitions"].as_array().unwrap().len(), 1);
    let retracted = all
        .post("/v1/definitions/waits/retract", json!({}))
        .await
        .is(200);
    assert_eq!(retracted.json()["retracted"], true);
    all.post("/v1/definitions/waits/start", json!({}))
        .await
        .is(404);
    let retracted = all.post("/v1/definitions/waits/retract", json!({})).await;
    assert_eq!(retracted.is(200).json()["retracted"], false);
    all.post("/v1/definitions/none/retract", json!({}))
        .await
        .is(404);
    all.get("/v1/definitions/none").await.is(404);
    all.get("/v1/definitions/none/versions").await.is(404);
}

#[tokio::test]
async fn a_definition_that_makes_no_sense_is_told_what_is_wrong() {
    let place = Place::new().await;
    let wrong = json!({ "lockwork": 1, "root": { "type": "Nothing", "id": "a" } });
    let refused = place
        .all
        .ask("PUT", "/v1/definitions/wrong", Some(wrong))
        .await
        .is(422);
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("Nothing"), "{detail}");
    let other = json!({ "lockwork": 1, "id": "other", "root": { "type": "Log", "id": "a", "with": { "text": "x" } } });
    place
        .all
        .ask("PUT", "/v1/definitions/one", Some(other))
        .await
        .is(400);
}

#[tokio::test]
async fn an_instance_waits_is_told_and_ends() {
    let place = Place::new().await;
    let (all, id) = (&place.all, place.waiting().await);
    let shown = all.get(&format!("/v1/instances/{id}")).await.is(200).json();
    assert_eq!(shown["state"]["subStatus"], "suspended");
    assert!(
        shown["epoch"].is_string() && shown["commits"].is_string(),
        "{shown}"
    );
    all.get(&format!("/v1/instances/{id}/variables"))
        .await
        .is(200);
    let reached = all
        .post("/v1/events/go", json!({ "instance": id, "payload": 7 }))
        .await
        .is(200)
        .json();
    assert_eq!(reached["resumed"][0]["subStatus"], "finished", "{reached}");
    let journal = all
        .get(&format!("/v1/instances/{id}/journal"))
        .await
        .is(200)
        .json();
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!(entries.last().unwrap()["happened"], "instanceFinished");
    let rest = all
        .get(&format!(
            "/v1/instances/{id}/journal?from={}",
            entries.len()
        ))
        .await
        .is(200);
    assert_eq!(rest.json()["entries"], json!([]));
    let cancelled = all
        .post(&format!("/v1/instances/{id}/cancel"), json!({}))
        .await
        .is(200);
    assert_eq!(cancelled.json()["cancelled"], "over");
    all.post(&format!("/v1/instances/{id}/retry"), json!({}))
        .await
        .is(409);
    all.ask("DELETE", &format!("/v1/instances/{id}"), None)
        .await
        .is(204);
    all.ask("DELETE", &format!("/v1/instances/{id}"), None)
        .await
        .is(404);
    all.get(&format!("/v1/instances/{id}")).await.is(404);
}

#[tokio::test]
async fn of_two_with_one_key_one_is_started() {
    let place = Place::new().await;
    place.waits().await;
    let first = place
        .all
        .post("/v1/definitions/waits/start", json!({ "key": "k" }))
        .await
        .is(200)
        .json();
    let path = "/v1/definitions/waits/start?wait=false";
    let again = place
        .all
        .request("POST", path, "Idempotency-Key: k\r\n", "{}");
    let again = place.all.send(&again).await.is(202).json();
    assert_eq!(again["instance"], first["instance"]);
    assert_eq!(again["isNew"], false);
}

#[tokio::test]
async fn an_instance_that_nobody_waits_for_is_run_all_the_same() {
    let place = Place::new().await;
    place.waits().await;
    let path = "/v1/definitions/waits/start?wait=false";
    let created = place
        .all
        .post(path, json!({ "instance": "mine" }))
        .await
        .is(202)
        .json();
    assert_eq!(
        (&created["instance"], &created["isNew"]),
        (&json!("mine"), &json!(true))
    );
    soon(async {
        loop {
            let journal = place
                .all
                .get("/v1/instances/mine/journal?from=3&wait=5")
                .await
                .is(200)
                .json();
            if journal["subStatus"] == "suspended" {
                break;
            }
        }
    })
    .await;
    place
        .all
        .post(path, json!({ "instance": "mine" }))
        .await
        .is(409);
}

#[tokio::test]
async fn pages_add_up_to_all_instances() {
    let place = Place::new().await;
    place.waits().await;
    for _ in 0..5 {
        place
            .all
            .post("/v1/definitions/waits/start", json!({}))
            .await
            .is(200);
    }
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/instances?definition=waits&subStatus=suspended&limit=2{after}");
        let page = place.reader.get(&path).await.is(200).json();
        for one in page["instances"].as_array().unwrap() {
            found.push(one["instance"].as_str().unwrap().to_owned());
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 5);
    let none = place
        .reader
        .get("/v1/instances?subStatus=faulted")
        .await
        .is(200)
        .json();
    assert_eq!(none["instances"], json!([]));
    for wrong in [
        "limit=0",
        "limit=501",
        "limit=x",
        "after=x",
        "status=x",
        "subStatus=x",
    ] {
        place
            .reader
            .get(&format!("/v1/instances?{wrong}"))
            .await
            .is(400);
    }
}

#[tokio::test]
async fn what_failed_is_begun_again() {
    let place = Place::new().await;
    let fails = json!({
        "lockwork": 1,
        "options": { "incidents": "continue" },
        "root": { "type": "Fault", "id": "no", "with": { "code": "no", "message": "not today" } },
    });
    place
        .all
        .ask("PUT", "/v1/definitions/fails", Some(fails))
        .await
        .is(200);
    let ran = place
        .all
        .post("/v1/definitions/fails/start", json!({}))
        .await
        .is(200)
        .json();
    assert_eq!(ran["incidents"][0]["failure"]["message"], "not today");
    let id = ran["instance"].as_str().unwrap();
    let again = place
        .all
        .post(&format!("/v1/instances/{id}/retry"), json!({}))
        .await
        .is(200)
        .json();
    assert_eq!(again["incidents"][0]["failure"]["code"], "no");
    let bulk = json!({ "action": "cancel", "instances": [id, "none"] });
    let done = place
        .all
        .post("/v1/bulk/instances", bulk)
        .await
        .is(200)
        .json();
    assert_eq!(
        (&done["done"], &done["failed"][0]["problem"]["status"]),
        (&json!([id]), &json!(404))
    );
    let bulk = json!({ "action": "delete", "instances": ["none", id] });
    let done = place.all.post("/v1/bulk/instances", bulk).await.is(200);
    let done = done.json();
    assert_eq!(
        (&done["done"], &done["failed"][0]["instance"]),
        (&json!([id]), &json!("none"))
    );
    assert_eq!(done["failed"][0]["problem"]["status"], 404);
    place.all.get(&format!("/v1/instances/{id}")).await.is(404);
}

#[tokio::test]
async fn a_link_resumes_its_bookmark_once_and_without_a_key() {
    let place = Place::new().await;
    let id = place.waiting().await;
    let shown = place
        .all
        .get(&format!("/v1/instances/{id}"))
        .await
        .is(200)
        .json();
    let bookmark = shown["state"]["bookmarks"][0]["id"].clone();
    let wanted = json!({ "bookmark": bookmark, "seconds": 60 });
    let link = place
        .all
        .post(&format!("/v1/instances/{id}/links"), wanted)
        .await
        .is(200)
        .json();
    let path = link["path"].as_str().unwrap();
    let stranger = place.stranger();
    stranger.get(path).await.is(405);
    let done = stranger
        .post(path, json!({ "yes": true }))
        .await
        .is(200)
        .json();
    assert_eq!(done, json!({ "delivery": "done", "subStatus": "finished" }));
    let late = stranger.post(path, json!({})).await.is(200).json();
    assert_ne!(late["delivery"], "done");
    let wanted = json!({ "bookmark": bookmark });
    place
        .all
        .post(&format!("/v1/instances/{id}/links"), wanted)
        .await
        .is(404);
}

#[tokio::test]
async fn a_stimulus_that_nobody_waits_for_waits() {
    let place = Place::new().await;
    let sent = json!({ "name": "Event", "payload": { "name": "early" }, "key": "once" });
    let reached = place
        .all
        .post("/v1/stimuli", sent.clone())
        .await
        .is(200)
        .json();
    assert_eq!(
        (&reached["queued"], &reached["duplicate"]),
        (&json!(true), &json!(false))
    );
    let again = place.all.post("/v1/stimuli", sent).await.is(200).json();
    assert_eq!(again["duplicate"], true);
    let queue = place.reader.get("/v1/queue").await.is(200).json();
    let hash = queue["waiting"][0]["stimulus"]["hash"].clone();
    let by_hash = place
        .all
        .post("/v1/stimuli", json!({ "hash": hash }))
        .await
        .is(200)
        .json();
    assert_eq!(by_hash["queued"], true);
    place.all.post("/v1/stimuli", json!({})).await.is(400);
    let dead = place.reader.get("/v1/dead-letters").await.is(200).json();
    assert_eq!(dead["deadLetters"], json!([]));
    place
        .all
        .post("/v1/dead-letters/none%2Fsuch/replay", json!({}))
        .await
        .is(404);
}

#[tokio::test]
async fn a_dead_letter_is_replayed_once() {
    let place = Place::new().await;
    place.all.post("/v1/events/early", json!({})).await.is(200);
    let id = place.buries().await;
    let replay = format!("/v1/dead-letters/{}/replay", id.replace('/', "%2F"));
    place.all.post(&replay, json!({})).await.is(200);
    place.all.post(&replay, json!({})).await.is(409);
}

#[tokio::test]
async fn a_task_is_listed_until_it_is_done() {
    let place = Place::new().await;
    let asks = json!({
        "lockwork": 1,
        "root": { "type": "RunTask", "id": "pack", "with": { "name": "pack", "payload": 7 } },
    });
    place
        .all
        .ask("PUT", "/v1/definitions/asks", Some(asks))
        .await
        .is(200);
    place
        .all
        .post("/v1/definitions/asks/start", json!({}))
        .await
        .is(200);
    let tasks = place.reader.get("/v1/tasks").await.is(200).json();
    let id = tasks["tasks"][0]["id"]
        .as_str()
        .unwrap()
        .replace('/', "%2F");
    let done = place
        .all
        .post(&format!("/v1/tasks/{id}/complete"), json!({ "result": 1 }))
        .await;
    assert_eq!(done.is(200).json()["resumed"][0]["subStatus"], "finished");
    let tasks = place.reader.get("/v1/tasks").await.is(200).json();
    assert_eq!(tasks["tasks"], json!([]));
}

#[tokio::test]
async fn what_happens_by_itself_is_listed() {
    let place = Place::new().await;
    let sleeps = json!({
        "lockwork": 1,
        "root": { "type": "Delay", "id": "nap", "with": { "for": "1h" } },
    });
    place
        .all
        .ask("PUT", "/v1/definitions/sleeps", Some(sleeps))
        .await
        .is(200);
    let ran = place
        .all
        .post("/v1/definitions/sleeps/start", json!({}))
        .await
        .is(200)
        .json();
    let timers = place.reader.get("/v1/timers?limit=1").await.is(200).json();
    assert_eq!(
        timers["timers"][0]["kind"]["resume"]["instance"], ran["instance"],
        "{timers}"
    );
}
