//! What is secret is in no journal, no incident and no state that people see.

use crate::support::{
    Instance, definition, event, expr, fault, log, refused, say, sequence, set, values,
};
use lockwork_core::workflow::{ErrorKind, Failure, NodeId, Run, Target, Value};
use lockwork_flow::{HIDDEN, Registry, shown};
use serde_json::json;

const SECRET: &str = "xyzzy-4711";

/// A definition with a secret variable, a secret input and a secret output, and one of each that is none.
fn guarded(root: Value) -> Value {
    let mut guarded = definition(root);
    guarded["variables"] = json!([
        { "name": "pin", "value": SECRET, "secret": true },
        { "name": "list", "value": [{ "pin": "plugh-1" }, { "pin": "plugh-2" }], "secret": true },
        { "name": "open", "value": "open" },
        { "name": "key", "value": "line\n\"plover\"", "secret": true },
        { "name": "number", "value": 471_147, "secret": true },
    ]);
    guarded["inputs"] = json!([{ "name": "token", "secret": true }, { "name": "who" }]);
    guarded["outputs"] = json!([{ "name": "gold", "secret": true }, { "name": "told" }]);
    guarded
}

fn run(root: Value) -> Instance {
    let mut instance = Instance::new(guarded(root));
    instance.state.input = values(json!({ "token": SECRET, "who": "Ada" }));
    instance.go(Run::default());
    instance
}

/// Nobody who looks at the instance sees any of these.
fn hides(instance: &Instance, secrets: &[&str]) {
    let state = shown(&instance.graph, &instance.state);
    let seen = [
        serde_json::to_string(&instance.journal).unwrap(),
        serde_json::to_string(&instance.state.incidents).unwrap(),
        serde_json::to_string(&state).unwrap(),
    ];
    for (seen, secret) in seen
        .iter()
        .flat_map(|seen| secrets.iter().map(move |one| (seen, one)))
    {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
}

#[test]
fn what_is_said_has_no_secrets_in_it() {
    for (text, said) in [
        (
            json!({ "$text": "a {{ pin }} b {{ open }}" }),
            format!("a {HIDDEN} b open"),
        ),
        (expr("input.token"), HIDDEN.to_owned()),
        (expr("[pin, open]"), json!([HIDDEN, "open"]).to_string()),
        (json!({ "$text": "{{ input.who }}" }), "Ada".to_owned()),
    ] {
        let instance = run(say("said", text));
        assert_eq!(instance.lines(), [said]);
        hides(&instance, &[SECRET]);
    }
}

#[test]
fn what_is_made_of_a_secret_is_not_said_either() {
    for source in [
        "pin|upper",
        "pin[:9]",
        "pin|list|join('.')",
        "pin|replace('-', '+')",
        "key",
        "{'key': key}",
        "{pin: 1}",
        "list",
        "list|map(attribute='pin')|join('|')",
        "input",
        "number + 1",
        "number ~ ''",
        "(pin ~ '')|reverse",
    ] {
        let instance = run(say("said", expr(source)));
        instance.is_finished();
        let hidden = [
            SECRET, "XYZZY", "xyzzy", "x.y.z", "yzzyx", "plugh", "plover", "471147", "471148",
            "1174",
        ];
        hides(&instance, &hidden);
    }
}

#[test]
fn a_failure_does_not_tell() {
    let with = json!({ "code": { "$text": "code.{{ pin }}" }, "message": { "$text": "no {{ pin|upper }}" } });
    let fails = json!({ "type": "Fault", "id": "f", "with": with });
    hides(&run(fails.clone()), &[SECRET, "XYZZY"]);
    let told = say(
        "told",
        json!({ "$text": "{{ error.code }} {{ error.message }}" }),
    );
    let attempt = json!({ "type": "Try", "id": "t", "do": { "body": fails, "catch": told } });
    hides(&run(attempt), &[SECRET, "XYZZY"]);
    for source in ["pin + 1", "pin.x", "number|format", "-pin", "pin|int"] {
        let instance = run(say("said", expr(source)));
        assert_eq!(instance.codes(), ["expression"], "{source}");
        hides(&instance, &[SECRET, "471147"]);
    }
}

#[test]
fn a_function_that_repeats_what_it_was_given_does_not_tell() {
    let registry = Registry::standard().code("echo", |call| async move {
        let given = call.args.as_str().unwrap_or_default().to_owned();
        match given.len() {
            10 => Err(Failure::new(given.clone(), format!("what is {given}?"))),
            _ => Ok(json!(given)),
        }
    });
    let call = |args: &str| json!({ "type": "Call", "id": "c", "with": { "name": "echo", "args": expr(args) }, "into": "open" });
    for (root, code) in [
        (call("pin"), vec![HIDDEN]),
        (
            sequence("main", [call("' ' ~ pin"), say("said", expr("open"))]),
            vec![],
        ),
    ] {
        let mut instance = Instance::with(guarded(root), &registry);
        instance.go(Run::default());
        assert_eq!(instance.codes(), code);
        hides(&instance, &[SECRET]);
    }
}

#[test]
fn the_way_a_secret_chose_is_not_told() {
    let choose = json!({ "type": "Choose", "id": "s", "with": { "value": expr("pin") } });
    let connections = json!([{ "from": "s", "to": "a", "on": SECRET }]);
    let chart = json!({
        "type": "Flowchart", "id": "c", "with": { "start": "s", "connections": connections },
        "do": { "s": choose, "a": log("a") },
    });
    let instance = run(chart);
    assert_eq!(instance.lines(), ["a"]);
    hides(&instance, &[SECRET]);
}

#[test]
fn a_state_is_shown_without_its_secrets() {
    let each = json!({
        "type": "ForEach", "id": "each", "with": { "items": expr("list + [{pin: 1}]") },
        "do": { "body": event("go") },
    });
    let gold =
        json!({ "type": "SetOutput", "id": "o", "with": { "name": "gold", "value": expr("pin") } });
    let instance = run(sequence("main", [gold, each]));
    hides(&instance, &[SECRET, "plugh"]);
    let state = shown(&instance.graph, &instance.state);
    assert_eq!(state.variables["open"], json!("open"));
    assert_eq!(state.input["who"], json!("Ada"));
    assert_eq!(state.bookmarks, instance.state.bookmarks);
    assert_eq!(
        instance.state.output["gold"],
        json!(SECRET),
        "it is there all the same"
    );
}

#[test]
fn what_is_delivered_to_a_secret_is_one_already_on_the_way() {
    let mut go = event("go");
    go["into"] = json!("pin");
    let brought = values(json!({ "word": "swordfish" }));

    let instance = Instance::new(guarded(go.clone()));
    let mut burst = instance.burst();
    let trigger = Target::Trigger(NodeId::new("go").unwrap());
    burst
        .begin(Run::at(trigger).input(brought.clone()))
        .unwrap();
    let state = shown(&instance.graph, burst.state());
    assert!(!serde_json::to_string(&state).unwrap().contains("swordfish"));

    let instance = run(go);
    let mut burst = instance.burst();
    let bookmark = Target::Bookmark(instance.state.waiting()[0].id.clone());
    burst.begin(Run::at(bookmark).input(brought)).unwrap();
    let state = shown(&instance.graph, burst.state());
    assert!(!serde_json::to_string(&state).unwrap().contains("swordfish"));
}

#[test]
fn a_secret_goes_only_where_secrets_may() {
    let each = |body: Value| json!({ "type": "ForEach", "id": "x", "with": { "items": expr("list") }, "do": { "body": body } });
    let output = |value: &str| json!({ "type": "SetOutput", "id": "x", "with": { "name": "told", "value": expr(value) } });
    let correlate =
        |id: &str| json!({ "type": "Correlate", "id": "x", "with": { "id": expr(id) } });
    for (node, field) in [
        (set("x", "open", expr("pin")), "with.value"),
        (
            set("x", "open", json!({ "deep": [{ "$text": "{{ pin }}" }] })),
            "with.value",
        ),
        (set("x", "open", expr("input.token|upper")), "with.value"),
        (
            set("x", "open", expr("input.token[1:] ~ input.who")),
            "with.value",
        ),
        (set("x", "open", expr("input")), "with.value"),
        (set("x", "open", expr("output.gold")), "with.value"),
        (set("x", "open", expr("input['token']")), "with.value"),
        (set("x", "open", expr("(input).token")), "with.value"),
        (set("x", "open", expr("input|attr('token')")), "with.value"),
        (set("x", "open", expr("[input]|first")), "with.value"),
        (output("pin"), "with.value"),
        (correlate("pin"), "with.id"),
        (
            json!({ "type": "SetName", "id": "x", "with": { "name": expr("pin") } }),
            "with.name",
        ),
        (
            json!({ "type": "Event", "id": "x", "with": { "name": expr("pin") } }),
            "with.name",
        ),
        (each(set("x", "open", expr("item.pin"))), "with.value"),
        (each(each(correlate("item"))), "with.id"),
    ] {
        let error = refused(guarded(node.clone()));
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        assert!(text.contains(&format!("field={field}")), "{node}: {text}");
        assert!(
            text.contains("secret") && text.contains("definition=facts"),
            "{text}"
        );
    }
}

#[test]
fn a_secret_may_become_another_one_and_what_is_none_may_go_anywhere() {
    let gold =
        json!({ "type": "SetOutput", "id": "b", "with": { "name": "gold", "value": expr("pin") } });
    let root = sequence(
        "main",
        [
            set("a", "pin", expr("input.token")),
            gold,
            set("c", "open", expr("input.who")),
        ],
    );
    let instance = run(root);
    instance.is_finished();
    assert_eq!(instance.state.variables["open"], json!("Ada"));
}

#[test]
fn a_definition_without_secrets_shows_everything() {
    let instance = Instance::run(definition(sequence("main", [event("go"), fault("f", "x")])));
    assert_eq!(shown(&instance.graph, &instance.state), instance.state);
}
