//! What the schema refuses is no definition: nobody else takes it either.

use crate::{drafts, running, validator};
use lockwork_core::workflow::VersionId;
use lockwork_flow::{Definition, Graph, Registry, schema};
use serde_json::{Value, json};

/// A mistake, made in the definition of an order's approval: where, and what stands there then.
fn mistakes() -> Vec<(&'static str, Value)> {
    vec![
        ("/id", json!("")),
        ("/lockwork", json!(2)),
        ("/owner", json!("me")),
        ("/inputs/0/kind", json!("text")),
        ("/options", json!({ "activation": "twice" })),
        ("/root", json!(null)),
        ("/root/type", json!("Sequel")),
        ("/root/id", json!(7)),
        ("/root/do", json!("nothing")),
        ("/root/into", json!("decision")),
        ("/root/starts", json!(true)),
        ("/root/with", json!({ "text": "hello" })),
        ("/root/do/0/with", json!({})),
        ("/root/do/0/do", json!([])),
        ("/root/do/1/with/join", json!({ "$expr": "input.join" })),
        ("/root/do/1/retry", json!({ "times": -1, "after": "1s" })),
        ("/root/do/1/retry", json!({ "times": 1 })),
        ("/root/do/2/do", json!({})),
        (
            "/root/do/2/do/finally",
            json!({ "type": "Finish", "id": "end" }),
        ),
    ]
}

fn approval() -> Value {
    serde_json::from_str(&drafts::order_approval().unwrap().to_json()).unwrap()
}

/// Puts `value` at `place`, whether something stands there or not.
fn with(mut json: Value, place: &str, value: &Value) -> Value {
    let (around, field) = place.rsplit_once('/').unwrap();
    json.pointer_mut(around).unwrap()[field] = value.clone();
    json
}

#[test]
fn the_schema_refuses_what_is_no_definition() {
    let schema = schema(&Registry::standard());
    for (place, value) in mistakes() {
        let wrong = with(approval(), place, &value);
        assert!(!validator::accepts(&schema, &wrong), "{place}: {value}");
    }
}

#[test]
fn what_the_schema_refuses_has_no_graph() {
    for (place, value) in mistakes() {
        let read = Definition::from_value(with(approval(), place, &value));
        let graph = read.and_then(|definition| {
            Graph::new(definition, VersionId::new("1")?, &running::registry())
        });
        assert!(graph.is_err(), "{place}: {value}");
    }
}
