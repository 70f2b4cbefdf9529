//! What is too large, too deep or too long is refused, quickly, and takes nothing else with it.

use crate::support::{
    Instance, count, definition, expr, log, refused, remembering, say, sequence, set, values,
};
use lockwork_core::workflow::{ErrorKind, Value};
use lockwork_flow::{Definition, State, check_input};
use serde_json::json;
use std::time::{Duration, Instant};

/// A machine that is busy with other things takes its time; one that has to be stopped takes for ever.
const QUICKLY: Duration = Duration::from_secs(60);

fn quickly<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = run();
    assert!(
        began.elapsed() < QUICKLY,
        "too late: {what}: {:?}",
        began.elapsed()
    );
    done
}

/// Expressions that would take all of the stack, if somebody followed them.
fn deep() -> Vec<String> {
    let many = 10_000;
    let around = |open: &str, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(many), close.repeat(many))
    };
    let mut deep = vec![
        around("(", "1", ")"),
        around("[", "1", "]"),
        around("{'a':", "1", "}"),
        around("n[", "1", "]"),
        "(".repeat(many),
        "[".repeat(many),
        "-".repeat(many) + "1",
        "not ".repeat(many) + "n",
    ];
    for repeated in [
        "+n",
        "~n",
        "*n",
        "**n",
        "|abs",
        ".x",
        "[0]",
        "()",
        " if n else n",
        " is odd",
        " and n",
        " < n",
    ] {
        deep.push(format!("n{}", repeated.repeat(many / 2)));
    }
    deep
}

#[test]
fn an_expression_that_is_too_deep_is_refused() {
    for source in deep() {
        let error = quickly(&source[..10], || {
            refused(remembering(json!({ "n": 1 }), say("said", expr(&source))))
        });
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("field=with.text"), "{error}");
    }
}

#[test]
fn an_expression_that_is_nearly_too_deep_is_followed() {
    // On a thread with a small stack, as those of a runtime are.
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let follow = || {
        for open in ["(", "[", "-", "not ", "(-", "[-(", "n[", "{'a':("] {
            for many in [20, 60, 120, 145, 190, 399] {
                let close = open.chars().rev().filter_map(|open| match open {
                    '(' => Some(')'),
                    '[' => Some(']'),
                    '{' => Some('}'),
                    _ => None,
                });
                let close: String = close.collect();
                let source = format!("{}n{}", open.repeat(many), close.repeat(many));
                let definition = remembering(json!({ "n": 1 }), say("said", expr(&source)));
                let read = Definition::from_value(definition).unwrap();
                let version = lockwork_core::workflow::VersionId::new("v").unwrap();
                let registry = lockwork_flow::Registry::standard();
                drop(lockwork_flow::Graph::new(read, version, &registry));
            }
        }
    };
    small.spawn(follow).unwrap().join().unwrap();
}

/// A text of a megabyte, and something that is nearly as deep as can be.
fn large() -> Value {
    let deep = (0..60).fold(json!(1), |inside, _| json!([inside]));
    json!({ "big": "a".repeat(1_000_000), "deep": deep, "v": null })
}

#[test]
fn an_expression_that_makes_much_out_of_little_is_a_failure() {
    for source in [
        "'a' * 99999999",
        "9999999999 * 'a'",
        "[0] * 99999999",
        "(0, 1) * 49999999",
        "('a' * 99999999) ~ ('a' * 99999999)",
        "range(99999999)|list",
        "big[:9999]|list|map('trim', 'a')|map('default', big, true)|list",
        "big[:9999]|list|map('trim', 'a')|map('default', big, true)|join",
        "'' ~ big[:9999]|list|map('trim', 'a')|map('default', big, true)",
        "range(100000)|join(big)",
        "big|replace('a', big)",
        "big|list|map('replace', 'a', big)|list",
        "'%999999999d'|format(1)",
        "'%*d'|format(999999999, 1)",
        "[1]|batch(999999999, 0)|list",
        "[1]|slice(999999999)|list",
        "2 ** 99999",
        "99999999999999999999 * 99999999999999999999",
        "big ~ big ~ big ~ big ~ big ~ big ~ big ~ big ~ big",
        "[big, big, big, big, big]",
        "{'a': [big, big, big, big, big]}|length",
        "[0]|map('indent', 99999999)|list",
        "[[[[[deep]]]]]",
    ] {
        let root = set("set", "v", expr(source));
        let instance = quickly(source, || Instance::run(remembering(large(), root)));
        let codes = instance.codes();
        assert!(
            codes == ["expression"] || codes == ["value.large"],
            "{source}: {codes:?}"
        );
    }
}

#[test]
fn filters_without_limits_are_not_there() {
    for name in ["indent", "pprint", "safe", "nonsense"] {
        let text = expr(&format!("1|{name}"));
        let error = refused(definition(say("said", text))).to_string();
        assert!(
            error.contains("field=with.text") && error.contains(name),
            "{error}"
        );
    }
}

#[test]
fn a_text_that_says_much_many_times_is_a_failure() {
    let text = json!({ "$text": "{{ big }}".repeat(5_000) });
    let variables = json!({ "big": "a".repeat(1_000_000) });
    let instance = quickly("text", || {
        Instance::run(remembering(variables, say("said", text)))
    });
    assert_eq!(instance.codes(), ["expression"]);
}

#[test]
fn an_expression_or_a_text_that_is_too_long_is_refused() {
    let long = format!("'{}'", "a".repeat(1 << 20));
    for text in [expr(&long), json!({ "$text": long })] {
        let error = refused(definition(say("said", text))).to_string();
        assert!(
            error.contains("field=with.text") && error.len() < 1_000,
            "{}",
            error.len()
        );
    }
}

#[test]
fn a_value_that_is_too_large_is_a_failure_and_its_variable_stays() {
    let two = json!("a".repeat(2 << 20));
    let instance = Instance::run(remembering(json!({ "v": 1 }), set("set", "v", two.clone())));
    assert_eq!(instance.codes(), ["value.large"]);
    assert_eq!(instance.state.variables["v"], json!(1));

    let mut large = definition(
        json!({ "type": "SetOutput", "id": "o", "with": { "name": "v", "value": two } }),
    );
    large["outputs"] = json!([{ "name": "v" }]);
    let instance = Instance::run(large);
    assert_eq!(instance.codes(), ["value.large"]);
    assert!(instance.state.output.is_empty());

    let mut event = crate::support::event("go");
    event["into"] = json!("v");
    let mut instance = Instance::run(remembering(json!({ "v": 1 }), event));
    instance.event("go", json!({ "much": two }));
    assert_eq!(instance.codes(), ["value.large"]);

    let error = refused(remembering(json!({ "v": two }), log("a"))).to_string();
    assert!(
        error.contains("field=variables") && error.contains("name=v"),
        "{error}"
    );
}

#[test]
fn a_value_that_grows_deeper_and_deeper_is_a_failure_while_its_state_can_be_read() {
    let body = sequence(
        "body",
        [set("deeper", "v", expr("[v]")), count("more", "n")],
    );
    let root = json!({
        "type": "While", "id": "while", "with": { "condition": expr("n < 1000") }, "do": { "body": body },
    });
    let instance = Instance::run(remembering(json!({ "v": 0, "n": 0 }), root));
    assert!(["expression", "value.large"].contains(&instance.codes()[0]));
    let text = serde_json::to_string(&instance.state).unwrap();
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(State::from_value(again).unwrap(), instance.state);
}

#[test]
fn an_instance_is_given_neither_much_nor_deep() {
    check_input(&values(
        json!({ "a": "a".repeat(1_000_000), "b": [1, { "c": 2 }] }),
    ))
    .unwrap();
    let much = values(json!({ "a": "a".repeat(100 << 20) }));
    let error = quickly("input", || check_input(&much)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("bytes=1048576"), "{error}");
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    let error = check_input(&values(deep)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn activities_that_are_nested_too_deep_are_refused() {
    let nested = |depth: usize| {
        (1..depth).fold(log("innermost"), |inside, at| {
            sequence(&format!("s{at}"), [inside])
        })
    };
    let instance = Instance::run(definition(nested(48)));
    instance.is_finished();
    for depth in [49, 100, 200, 5_000] {
        let text = text_of(depth);
        let error = Definition::from_json(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("nested"), "{error}");
    }
}

/// Written by hand: a value that deep could not be made, or dropped.
fn text_of(depth: usize) -> String {
    let open: String = (0..depth)
        .map(|at| format!(r#"{{"type":"Sequence","id":"s{at}","do":["#))
        .collect();
    let close = "]}".repeat(depth);
    format!(r#"{{"lockwork":1,"id":"facts","root":{open}{close}}}"#)
}

#[test]
fn a_definition_with_too_many_activities_is_refused() {
    let many = |count: usize| {
        let inside: Vec<_> = (0..count).map(|at| log(&format!("l{at}"))).collect();
        definition(sequence("main", inside))
    };
    let error = refused(many(10_000));
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("10000"), "{error}");
    assert!(error.to_string().contains("definition=facts"), "{error}");
    quickly("many", || Instance::run(many(9_999))).is_finished();
}

#[test]
fn a_path_that_is_too_long_is_refused_with_its_place() {
    let long = |at: usize| format!("{at}{}", "a".repeat(250));
    let nested = (1..20).fold(log("innermost"), |inside, at| sequence(&long(at), [inside]));
    let error = refused(definition(nested)).to_string();
    for part in ["definition=facts", "node=19a", "too long"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn many_items_at_once_are_run_quickly() {
    for (kind, most) in [
        ("ForEach", None),
        ("ParallelForEach", None),
        ("ParallelForEach", Some(3)),
    ] {
        let items: Vec<_> = (0..10_000).collect();
        let mut root = json!({
            "type": kind, "id": "each", "with": { "items": items }, "do": { "body": log("a") },
        });
        if let Some(most) = most {
            root["with"]["atMost"] = json!(most);
        }
        let instance = quickly(kind, || Instance::run(definition(root)));
        assert_eq!(instance.lines().len(), 10_000);
        instance.is_finished();
    }
}

#[test]
fn many_that_wait_are_cancelled_quickly() {
    let items: Vec<_> = (0..5_000).collect();
    let root = json!({
        "type": "ParallelForEach", "id": "each", "with": { "items": items },
        "do": { "body": crate::support::event("go") },
    });
    let instance = quickly("run", || Instance::run(definition(root)));
    assert_eq!(instance.state.waiting().len(), 5_000);
    let mut burst = instance.burst();
    quickly("cancel", || burst.cancel_all());
    assert!(burst.state().contexts.is_empty());
}
