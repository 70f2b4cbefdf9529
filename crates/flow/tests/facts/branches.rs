//! One way or another.

use crate::support::{Instance, definition, expr, log, remembering, sequence};
use serde_json::{Value, json};

fn when(condition: Value, inside: Value) -> Value {
    json!({ "type": "If", "id": "if", "with": { "condition": condition }, "do": inside })
}

#[test]
fn an_if_takes_one_of_two_ways() {
    for (n, way) in [(3, "small"), (30, "large")] {
        let ways = json!({ "then": log("small"), "else": log("large") });
        let root = sequence("main", [when(expr("n < 10"), ways), log("after")]);
        let instance = Instance::run(remembering(json!({ "n": n }), root));
        assert_eq!(instance.lines(), [way, "after"]);
        instance.is_finished();
    }
}

#[test]
fn an_if_without_that_way_goes_on() {
    for (condition, inside) in [
        (false, json!({ "then": log("never") })),
        (true, json!({ "else": log("never") })),
        (true, json!({})),
    ] {
        let root = sequence("main", [when(json!(condition), inside), log("after")]);
        let instance = Instance::run(definition(root));
        assert_eq!(instance.lines(), ["after"]);
        instance.is_finished();
    }
}

#[test]
fn a_condition_that_is_no_truth_is_a_failure() {
    for condition in [json!(1), json!("true"), expr("[1]")] {
        let instance = Instance::run(definition(when(condition, json!({}))));
        assert_eq!(instance.codes(), ["input.type"]);
    }
}

#[test]
fn a_switch_takes_the_way_that_is_called_so_or_the_default() {
    for (value, way) in [
        (json!("red"), "stop"),
        (json!(7), "seven"),
        (json!(true), "yes"),
        (json!("blue"), "else"),
        (Value::Null, "else"),
    ] {
        let cases = json!({
            "red": log("stop"), "7": log("seven"), "true": log("yes"), "default": log("else"),
        });
        let switch =
            json!({ "type": "Switch", "id": "s", "with": { "value": value }, "do": cases });
        let instance = Instance::run(definition(switch));
        assert_eq!(instance.lines(), [way], "{value}");
        instance.is_finished();
    }
}

#[test]
fn a_switch_without_a_fitting_way_goes_on() {
    let switch = json!({
        "type": "Switch", "id": "s", "with": { "value": "x" }, "do": { "y": log("never") },
    });
    let instance = Instance::run(definition(sequence("main", [switch, log("after")])));
    assert_eq!(instance.lines(), ["after"]);
    instance.is_finished();
}
