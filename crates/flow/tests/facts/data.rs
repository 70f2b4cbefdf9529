//! What instances remember, give and say.

use crate::support::{
    Instance, definition, expr, log, refused, remembering, say, sequence, set, values,
};
use lockwork_core::workflow::{Run, Value};
use serde_json::json;

#[test]
fn a_variable_is_what_it_was_set_to() {
    let root = sequence(
        "main",
        [
            set("a", "n", expr("n + 1")),
            set("b", "n", expr("n * 10")),
            say("n", expr("n")),
        ],
    );
    let instance = Instance::run(remembering(json!({ "n": 1 }), root));
    assert_eq!(instance.lines(), ["20"]);
    assert_eq!(instance.state.variables["n"], json!(20));
}

#[test]
fn expressions_may_stand_anywhere_in_a_value() {
    let value = json!({
        "who": expr("input.who"), "list": [1, { "$text": "n is {{ n }}" }, { "deep": expr("[n, n]") }],
        "plain": { "$expr": "n", "and": "another key" },
    });
    let root = set("set", "v", value);
    let mut instance = Instance::new(remembering(json!({ "n": 2, "v": null }), root));
    instance.state.input = values(json!({ "who": { "name": "Ada" } }));
    instance.go(Run::default());
    let expected = json!({
        "who": { "name": "Ada" }, "list": [1, "n is 2", { "deep": [2, 2] }],
        "plain": { "$expr": "n", "and": "another key" },
    });
    assert_eq!(instance.state.variables["v"], expected);
}

#[test]
fn an_expression_gives_what_it_says() {
    for (source, given) in [
        ("1 + 2 * 3", json!(7)),
        ("n / 2", json!(1.5)),
        ("n // 2", json!(1)),
        ("-n ** 2", json!(9)),
        ("n * -2", json!(-6)),
        ("2 * (n + 1) * 2", json!(16)),
        ("'a*b' ~ n", json!("a*b3")),
        ("[1, 2] + [n]", json!([1, 2, 3])),
        ("{'k': n}.k", json!(3)),
        ("list|length", json!(3)),
        ("list|join(', ')", json!("c, a, b")),
        ("list|sort|first", json!("a")),
        ("'x-y'|replace('-', '+')", json!("x+y")),
        ("n if n > 2 else 0", json!(3)),
        ("n > 2 and not n == 5", json!(true)),
        ("'b' in list", json!(true)),
        ("n is odd", json!(true)),
        ("n is not odd or n is divisibleby 3", json!(true)),
        ("list[1:]", json!(["a", "b"])),
        ("range(3)|list", json!([0, 1, 2])),
        ("none", Value::Null),
        ("'%05.1f'|format(n)", json!("003.0")),
        ("instance.id", json!("i")),
        ("input", json!({})),
        ("input.missing|default(n)", json!(3)),
        (
            "[{'k': 2}, {'k': 1}]|map(attribute='k')|list",
            json!([2, 1]),
        ),
        ("list|map('upper')|join", json!("CAB")),
    ] {
        let variables = json!({ "n": 3, "list": ["c", "a", "b"], "v": null });
        let instance = Instance::run(remembering(variables, set("set", "v", expr(source))));
        assert_eq!(
            instance.state.variables["v"], given,
            "{source}: {:?}",
            instance.state.incidents
        );
        instance.is_finished();
    }
}

#[test]
fn a_variable_may_be_called_as_a_function_of_expressions_is() {
    let root = say("said", expr("range + 1"));
    let instance = Instance::run(remembering(json!({ "range": 4 }), root));
    assert_eq!(instance.lines(), ["5"]);
}

#[test]
fn what_is_not_there_is_a_failure_and_not_nothing() {
    for source in [
        "input.missing",
        "input.missing.deeper",
        "v.x",
        "1 + v",
        "v[3]",
        "1 // 0",
    ] {
        let root = say("said", expr(source));
        let instance = Instance::run(remembering(json!({ "v": null }), root));
        assert_eq!(instance.codes(), ["expression"], "{source}");
        let message = &instance.state.incidents[0].failure.message;
        assert!(
            message.starts_with("`text` cannot be evaluated: "),
            "{message}"
        );
    }
}

#[test]
fn outputs_correlation_and_name_are_told() {
    let mut all = definition(sequence(
        "main",
        [
            json!({ "type": "SetOutput", "id": "o", "with": { "name": "sum", "value": expr("1 + 1") } }),
            json!({ "type": "Correlate", "id": "c", "with": { "id": expr("40 + 2") } }),
            json!({ "type": "SetName", "id": "n", "with": { "name": { "$text": "no. {{ output.sum }}" } } }),
            say(
                "said",
                json!({ "$text": "{{ instance.correlation }}, {{ instance.name }}" }),
            ),
        ],
    ));
    all["outputs"] = json!([{ "name": "sum" }]);
    let instance = Instance::run(all);
    assert_eq!(instance.state.output, values(json!({ "sum": 2 })));
    assert_eq!(instance.state.correlation.as_deref(), Some("42"));
    assert_eq!(instance.state.name.as_deref(), Some("no. 2"));
    assert_eq!(instance.lines(), ["42, no. 2"]);
}

#[test]
fn what_is_no_text_is_said_as_json() {
    let root = sequence(
        "main",
        [
            say("a", json!({ "k": [1] })),
            say("b", Value::Null),
            log("c"),
        ],
    );
    let instance = Instance::run(definition(root));
    assert_eq!(instance.lines(), [r#"{"k":[1]}"#, "null", "c"]);
}

#[test]
fn a_program_may_register_functions() {
    let registry = lockwork_flow::Registry::standard().code("twice", |call| async move {
        Ok(json!(call.args.as_i64().unwrap_or(0) * 2))
    });
    let call = json!({
        "type": "Call", "id": "call", "with": { "name": "twice", "args": expr("n") }, "into": "n",
    });
    let definition = remembering(json!({ "n": 4 }), call);
    let mut instance = Instance::with(definition.clone(), &registry);
    instance.go(Run::default());
    assert_eq!(instance.state.variables["n"], json!(8));
    let error = refused(definition).to_string();
    assert!(
        error.contains("with.name") && error.contains("twice"),
        "{error}"
    );
}
