//! Requests: how they find an instance, what they bring, and what is answered.

use crate::support::{Instance, definition, refused, remembering, sequence};
use lockwork_core::workflow::{Delivery, NodeId, Run, SubStatus, Target, Value};
use lockwork_flow::{Endpoint, RESPONSE};
use serde_json::json;

fn endpoint(with: Value) -> Value {
    json!({ "type": "HttpEndpoint", "id": "asked", "with": with, "into": "request" })
}

fn orders() -> Value {
    let with = json!({ "method": "post", "path": "/orders/{id}", "headers": ["X-Who"] });
    endpoint(with)
}

fn answers(with: Value) -> Value {
    json!({ "type": "HttpResponse", "id": "answer", "with": with })
}

fn flow(root: Value) -> Value {
    remembering(json!({ "request": null }), root)
}

fn request() -> Value {
    json!({
        "parameters": ["7"],
        "query": { "a": "b" },
        "headers": { "x-who": "Ada", "x-more": "for others" },
        "body": [1],
    })
}

/// What the definition says of its route.
fn named(instance: &Instance) -> Endpoint {
    Endpoint::all(instance.graph.definition()).remove(0)
}

#[test]
fn a_request_brings_what_the_activity_has_names_for() {
    let mut instance = Instance::run(flow(orders()));
    instance.is(SubStatus::Suspended);
    let bookmark = instance.state.waiting()[0].clone();
    let stimulus = named(&instance).stimulus(false).unwrap();
    assert_eq!((bookmark.hash, stimulus.fleeting), (stimulus.hash, true));
    assert_eq!(instance.resume(&bookmark, request()), Delivery::Done);
    let wanted = json!({
        "parameters": { "id": "7" },
        "query": { "a": "b" },
        "headers": { "x-who": "Ada" },
        "body": [1],
    });
    assert_eq!(instance.state.variables["request"], wanted);
    instance.is_finished();
}

#[test]
fn a_request_that_starts_instances_resumes_none() {
    let mut starts = orders();
    starts["starts"] = true.into();
    let mut instance = Instance::new(flow(starts));
    let start = instance.graph.starts().unwrap().remove(0);
    let named = named(&instance);
    assert_eq!(start.hash, named.stimulus(true).unwrap().hash);
    assert_ne!(start.hash, named.stimulus(false).unwrap().hash);
    let node = NodeId::new("asked").unwrap();
    let run = Run::at(Target::Trigger(node));
    instance.go(run.input(request().as_object().unwrap().clone()));
    instance.is_finished();
    assert_eq!(instance.state.variables["request"]["body"], json!([1]));
}

#[test]
fn routes_are_the_same_whatever_their_parameters_are_called() {
    let hash = |with: Value| {
        let instance = Instance::new(flow(endpoint(with)));
        named(&instance).stimulus(false).unwrap().hash
    };
    let first = hash(json!({ "method": "POST", "path": "/orders/{id}" }));
    let same = hash(json!({ "method": "post", "path": "/orders/{nr}", "wait": true }));
    assert_eq!(first, same);
    for other in [
        json!({ "method": "PUT", "path": "/orders/{id}" }),
        json!({ "method": "POST", "path": "/orders/id" }),
        json!({ "method": "POST", "path": "/orders/{id}", "public": true }),
        json!({ "method": "POST", "path": "/orders/{id}", "correlation": "id" }),
    ] {
        assert_ne!(hash(other.clone()), first, "{other}");
    }
}

#[test]
fn an_answer_is_an_output_until_the_next_request() {
    let first = answers(json!({ "status": 201, "headers": { "X-A": "b" }, "body": "yes" }));
    let root = sequence("main", [first, orders()]);
    let mut instance = Instance::run(flow(root));
    let wanted = json!({ "status": 201, "headers": { "X-A": "b" }, "body": "yes" });
    assert_eq!(instance.state.output[RESPONSE], wanted);
    let bookmark = instance.state.waiting()[0].clone();
    instance.resume(&bookmark, request());
    assert!(!instance.state.output.contains_key(RESPONSE));
}

#[test]
fn an_answer_that_cannot_be_sent_fails() {
    for with in [
        json!({ "status": 99 }),
        json!({ "status": 101 }),
        json!({ "status": "200" }),
        json!({ "headers": [] }),
        json!({ "headers": { "a b": "c" } }),
        json!({ "headers": { "a": "b\r\nc: d" } }),
        json!({ "headers": { "Content-Length": "7" } }),
        json!({ "headers": { "a": 7 } }),
    ] {
        let instance = Instance::run(definition(answers(with.clone())));
        assert_eq!(instance.state.sub_status, SubStatus::Faulted, "{with}");
    }
}

#[test]
fn a_route_that_cannot_be_is_found_before_anything_is_executed() {
    for (field, with) in [
        ("method", json!({ "method": "HEAD", "path": "/a" })),
        ("method", json!({ "method": 7, "path": "/a" })),
        ("path", json!({ "method": "GET", "path": "/a/../b" })),
        (
            "path",
            json!({ "method": "GET", "path": { "$expr": "request" } }),
        ),
        (
            "wait",
            json!({ "method": "GET", "path": "/a", "wait": "yes" }),
        ),
        (
            "public",
            json!({ "method": "GET", "path": "/a", "public": 1 }),
        ),
        (
            "headers",
            json!({ "method": "GET", "path": "/a", "headers": "x" }),
        ),
        (
            "headers",
            json!({ "method": "GET", "path": "/a", "headers": ["Authorization"] }),
        ),
        (
            "correlation",
            json!({ "method": "GET", "path": "/{a}", "correlation": "b" }),
        ),
    ] {
        let error = refused(flow(endpoint(with.clone()))).to_string();
        assert!(error.contains(&format!("with.{field}")), "{with}: {error}");
    }
}
