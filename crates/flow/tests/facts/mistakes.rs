//! What cannot be in a definition, and how its author is told.

use crate::support::{
    Instance, definition, event, expr, fault, log, refused, remembering, say, sequence, set,
};
use lockwork_core::workflow::{Error, ErrorKind, Value};
use lockwork_flow::{Definition, State};
use serde_json::json;

/// The error names the definition, and whatever else is expected of it.
fn names(error: &Error, parts: &[&str]) {
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let text = error.to_string();
    for part in parts.iter().chain(&["definition=facts"]) {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    assert!(text.len() < 1_000, "nobody reads {} bytes", text.len());
}

/// An activity inside of another, so that there is a path to tell.
fn inside(node: Value) -> Value {
    definition(sequence("main", [node]))
}

#[test]
fn a_mistake_in_an_activity_is_told_with_node_and_field() {
    let x = |kind: &str, with: Value| json!({ "type": kind, "id": "x", "with": with });
    for (node, field) in [
        (x("Nonsense", json!({})), "type"),
        (x("Event", json!({})), "with.name"),
        (
            x("Log", json!({ "text": "a", "level": "high" })),
            "with.level",
        ),
        (x("Finish", json!({ "now": true })), "with.now"),
        (x("Log", json!({ "text": expr("nobody") })), "with.text"),
        (
            x("Log", json!({ "text": [{ "deep": expr("nobody") }] })),
            "with.text",
        ),
        (x("Log", json!({ "text": expr("1 +") })), "with.text"),
        (
            x("Log", json!({ "text": { "$text": "{{ 1" } })),
            "with.text",
        ),
        (x("Log", json!({ "text": expr("1|nofilter") })), "with.text"),
        (
            x("SetVariable", json!({ "name": "nobody", "value": 1 })),
            "with.name",
        ),
        (
            x("SetVariable", json!({ "name": expr("'n'"), "value": 1 })),
            "with.name",
        ),
        (
            x("SetOutput", json!({ "name": "nobody", "value": 1 })),
            "with.name",
        ),
        (x("Fork", json!({ "join": "some" })), "with.join"),
        (x("Delay", json!({ "for": "soon" })), "with.for"),
        (x("Delay", json!({ "for": 5 })), "with.for"),
        (x("Timer", json!({ "every": "0s" })), "with.every"),
        (x("StartAt", json!({ "at": "soon" })), "with.at"),
        (x("Cron", json!({ "at": "61 * * * *" })), "with.at"),
        (x("Cron", json!({ "at": "0 0 30 2 *" })), "with.at"),
        (
            x("Cron", json!({ "at": "0 0 * * *", "zone": "Nowhere" })),
            "with.at",
        ),
        (x("Event", json!({ "name": 5 })), "with.name"),
        (
            x("Event", json!({ "name": "n".repeat(1 << 20) })),
            "with.name",
        ),
        (x("Call", json!({ "name": "nobody" })), "with.name"),
        (
            x(
                "HttpRequest",
                json!({ "url": "http://x", "timeout": "soon" }),
            ),
            "with.timeout",
        ),
    ] {
        names(
            &refused(inside(node)),
            &["node=main/x", &format!("field={field}")],
        );
    }
}

#[test]
fn contents_that_do_not_fit_are_told() {
    let x = |kind: &str, with: Value, inside: Value| json!({ "type": kind, "id": "x", "with": with, "do": inside });
    let yes = || json!({ "condition": true });
    for node in [
        x("Log", json!({ "text": "a" }), json!([log("a")])),
        x("Sequence", json!({}), json!({ "a": log("a") })),
        x("If", yes(), json!([log("a")])),
        x("If", yes(), json!({ "maybe": log("a") })),
        x("While", yes(), json!({})),
        x("Try", json!({}), json!({ "body": log("a") })),
        x("Switch", json!({ "value": 1 }), json!([log("a")])),
        x("Sequence", json!({}), json!("a")),
        x(
            "BulkDispatch",
            json!({ "definition": "child", "items": [] }),
            json!({ "completed": log("a") }),
        ),
    ] {
        names(&refused(inside(node)), &["node=main/x", "field=do"]);
    }
}

#[test]
fn loops_know_names_that_can_be_written() {
    for kind in ["ForEach", "ParallelForEach"] {
        for (name, value) in [("as", json!(5)), ("as", json!("")), ("as", json!("index"))] {
            let mut node = json!({
                "type": kind, "id": "x", "with": { "items": [] }, "do": { "body": log("a") },
            });
            node["with"][name] = value;
            names(&refused(inside(node)), &["node=main/x", "field=with.as"]);
        }
    }
    let mut node = json!({
        "type": "ParallelForEach", "id": "x", "with": { "items": [], "atMost": 0 },
        "do": { "body": log("a") },
    });
    names(&refused(inside(node.clone())), &["field=with.atMost"]);
    node["with"]["atMost"] = expr("1");
    names(&refused(inside(node)), &["field=with.atMost"]);
}

#[test]
fn a_result_goes_into_a_variable_that_is_there_from_an_activity_that_has_one() {
    for (mut node, into) in [(event("x"), "nobody"), (log("x"), "n")] {
        node["into"] = json!(into);
        let definition = remembering(json!({ "n": 0 }), sequence("main", [node]));
        names(&refused(definition), &["node=main/x", "field=into"]);
    }
}

#[test]
fn what_waits_for_nothing_starts_nothing() {
    let starting = |mut node: Value| {
        node["starts"] = json!(true);
        node
    };
    let mut expression = starting(event("x"));
    expression["with"]["name"] = expr("'x'");
    for (node, field) in [(starting(log("x")), "starts"), (expression, "with.name")] {
        names(
            &refused(inside(node)),
            &["node=main/x", &format!("field={field}")],
        );
    }
}

#[test]
fn names_that_only_others_know_are_unknown() {
    let each = json!({
        "type": "ForEach", "id": "each", "with": { "items": [1] }, "do": { "body": log("a") },
    });
    let after = say("x", expr("item"));
    names(
        &refused(definition(sequence("main", [each, after]))),
        &["node=main/x", "field=with.text", "`item`"],
    );
}

#[test]
fn two_of_the_same_name_are_refused() {
    names(
        &refused(inside(sequence("x", [log("a"), log("a")]))),
        &["node=main/x", "field=do", "id=a"],
    );
    let mut twice = definition(log("a"));
    for field in ["variables", "inputs", "outputs"] {
        twice[field] = json!([{ "name": "n" }, { "name": "n" }]);
        names(
            &refused(twice.clone()),
            &[&format!("field={field}"), "name=n"],
        );
        twice[field] = json!([]);
    }
}

#[test]
fn an_id_that_looks_like_a_path_is_refused() {
    // Otherwise two activities could stand at the same place.
    let both = sequence("main", [sequence("a", [log("b")]), fault("a/b", "x")]);
    names(&refused(definition(both)), &["id=a/b"]);
    names(&refused(definition(log("a/b"))), &["id=a/b"]);
}

#[test]
fn names_that_every_expression_knows_are_taken() {
    for name in ["input", "output", "instance"] {
        let taken = remembering(json!({ name: 1 }), log("a"));
        names(
            &refused(taken),
            &["field=variables", &format!("name={name}")],
        );
    }
}

#[test]
fn a_definition_that_is_not_one_is_told_where_it_is_wrong() {
    for (wrong, part) in [
        (json!({ "lockwork": 1, "id": "facts" }), "root"),
        (
            json!({ "lockwork": 1, "id": "facts", "root": "a" }),
            "an activity is a JSON object",
        ),
        (
            json!({ "lockwork": 1, "id": "facts", "root": {} }),
            "field=id",
        ),
        (
            json!({ "lockwork": 1, "id": "facts", "root": { "id": "a" } }),
            "field=type",
        ),
        (
            json!({ "lockwork": 1, "id": "facts", "root": log("a"), "extra": 1 }),
            "extra",
        ),
        (
            json!({ "lockwork": 1, "id": "facts", "root": { "type": "Log", "id": "a", "text": "x" } }),
            "field=text",
        ),
        (
            json!({ "lockwork": 1, "id": "facts", "root": { "type": "Log", "id": "a", "retry": {} } }),
            "field=retry",
        ),
        (json!({ "id": "facts", "root": log("a") }), "lockwork"),
        (
            json!({ "lockwork": 0, "id": "facts", "root": log("a") }),
            "format=0",
        ),
    ] {
        names(&refused(wrong), &[part]);
    }
    for text in ["", "{", "[]", "5", r#"{"id": 5}"#] {
        let error = Definition::from_json(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
    }
}

#[test]
fn a_newer_definition_is_not_read_by_halves() {
    let mut newer = definition(log("a"));
    newer["lockwork"] = json!(2);
    for (key, value) in [
        ("a", json!(1)),
        ("newField", json!({})),
        ("root", json!([])),
    ] {
        newer[key] = value;
        let error = refused(newer.clone());
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("format=2") && text.contains("definition=facts"),
            "{text}"
        );
    }
}

#[test]
fn a_newer_state_is_not_read_by_halves() {
    let instance = Instance::run(definition(event("go")));
    let mut json = serde_json::to_value(&instance.state).unwrap();
    assert_eq!(State::from_value(json.clone()).unwrap(), instance.state);
    json["format"] = json!(2);
    json["subStatus"] = json!("dreaming");
    let error = State::from_value(json.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    json["format"] = json!(1);
    let error = State::from_value(json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn what_was_read_is_written_the_same() {
    let root = sequence(
        "main",
        [set("s", "n", json!({ "a": [expr("n")] })), event("go")],
    );
    let first = Definition::from_value(remembering(json!({ "n": 0 }), root)).unwrap();
    let again = Definition::from_json(&first.to_json()).unwrap();
    assert_eq!(first, again);
}
