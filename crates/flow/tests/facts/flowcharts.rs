//! Activities with arrows between them.

use crate::support::{
    Instance, count, definition, event, expr, log, refused, remembering, sequence,
};
use serde_json::{Value, json};

/// A flowchart that begins with `s`. An arrow is written `a > b`, `a > b on True`, or `a < b` if it goes back from
/// `b` to `a`.
fn chart(arrows: &[&str], inside: impl IntoIterator<Item = Value>) -> Value {
    let connections: Vec<_> = arrows.iter().map(|arrow| connection(arrow)).collect();
    let ports = inside.into_iter().map(|node| {
        let id = node["id"].as_str().unwrap().to_owned();
        (id, node)
    });
    json!({
        "type": "Flowchart", "id": "chart",
        "with": { "start": "s", "connections": connections },
        "do": Value::Object(ports.collect()),
    })
}

fn connection(arrow: &str) -> Value {
    let words: Vec<_> = arrow.split_whitespace().collect();
    let on = words.get(4).copied().unwrap_or("Done");
    match words[1] {
        ">" => json!({ "from": words[0], "to": words[2], "on": on }),
        _ => json!({ "from": words[2], "to": words[0], "on": on, "back": true }),
    }
}

fn joined(mut chart: Value, at: &str) -> Value {
    chart["with"]["joins"] = json!({ at: "any" });
    chart
}

fn decide(id: &str, condition: &str) -> Value {
    json!({ "type": "Decide", "id": id, "with": { "condition": expr(condition) } })
}

#[test]
fn arrows_are_followed() {
    let chart = chart(&["s > a", "a > b"], [log("b"), log("s"), log("a")]);
    let instance = Instance::run(definition(sequence("main", [chart, log("after")])));
    assert_eq!(instance.lines(), ["s", "a", "b", "after"]);
    instance.is_finished();
}

#[test]
fn a_decision_follows_the_arrow_of_its_outcome() {
    for (n, way) in [(1, "low"), (9, "high")] {
        let arrows = ["s > low on True", "s > high on False"];
        let chart = chart(&arrows, [decide("s", "n < 5"), log("low"), log("high")]);
        let instance = Instance::run(remembering(json!({ "n": n }), chart));
        assert_eq!(instance.lines(), [way]);
        instance.is_finished();
    }
}

#[test]
fn a_choice_follows_the_arrow_that_is_called_as_its_value_is() {
    let choose = json!({ "type": "Choose", "id": "s", "with": { "value": expr("n") } });
    let arrows = ["s > one on 1", "s > two on 2"];
    let chart = chart(&arrows, [choose, log("one"), log("two")]);
    let instance = Instance::run(remembering(json!({ "n": 2 }), chart.clone()));
    assert_eq!(instance.lines(), ["two"]);
    let instance = Instance::run(remembering(json!({ "n": 3 }), chart));
    assert!(instance.lines().is_empty(), "no arrow: the way ends there");
    instance.is_finished();
}

#[test]
fn where_arrows_meet_all_that_were_followed_are_waited_for() {
    let arrows = ["s > a", "s > b", "a > j", "b > j"];
    let inside = [log("s"), log("a"), event("b"), log("j")];
    let mut instance = Instance::run(definition(chart(&arrows, inside)));
    assert_eq!(instance.lines(), ["s", "a"]);
    instance.event("b", json!({}));
    assert_eq!(instance.lines(), ["s", "a", "j"], "and once");
    instance.is_finished();
}

#[test]
fn a_branch_not_taken_is_not_waited_for() {
    let arrows = [
        "s > a",
        "s > d",
        "d > b on True",
        "d > c on False",
        "a > j",
        "b > j",
        "c > x",
    ];
    let inside = [
        log("s"),
        log("a"),
        decide("d", "false"),
        log("b"),
        log("c"),
        log("x"),
        log("j"),
    ];
    let instance = Instance::run(definition(chart(&arrows, inside)));
    assert_eq!(instance.lines(), ["s", "a", "c", "j", "x"]);
    instance.is_finished();
}

#[test]
fn a_join_waits_for_what_is_several_arrows_away() {
    let arrows = ["s > a", "s > b", "b > c", "c > d", "a > j", "d > j"];
    let inside = ["s", "a", "b", "c", "d", "j"].map(log);
    let instance = Instance::run(definition(chart(&arrows, inside)));
    assert_eq!(instance.lines(), ["s", "a", "b", "c", "d", "j"]);
    instance.is_finished();
}

#[test]
fn where_the_first_arrow_is_enough_the_others_end() {
    let arrows = ["s > a", "s > b", "b > c", "a > j", "c > j"];
    let inside = [log("s"), log("a"), event("b"), log("c"), log("j")];
    let chart = joined(chart(&arrows, inside), "j");
    let instance = Instance::run(definition(chart));
    assert_eq!(instance.lines(), ["s", "a", "j"]);
    instance.is_finished();
}

#[test]
fn where_the_first_arrow_is_enough_a_shorter_way_is_the_only_one() {
    for arrows in [["s > j", "s > a", "a > j"], ["s > a", "s > j", "a > j"]] {
        let chart = joined(chart(&arrows, ["s", "a", "j"].map(log)), "j");
        let instance = Instance::run(definition(chart));
        assert_eq!(instance.lines(), ["s", "j"], "whichever was written first");
        instance.is_finished();
    }
}

#[test]
fn an_arrow_that_goes_back_makes_a_loop() {
    let arrows = ["s > more", "more > d", "s < d on True", "d > end on False"];
    let inside = [
        log("s"),
        count("more", "n"),
        decide("d", "n < 3"),
        log("end"),
    ];
    let instance = Instance::run(remembering(json!({ "n": 0 }), chart(&arrows, inside)));
    assert_eq!(instance.lines(), ["s", "s", "s", "end"]);
    instance.is_finished();
}

#[test]
fn a_join_in_a_loop_waits_in_each_round() {
    let arrows = [
        "s > a",
        "s > b",
        "a > j",
        "b > j",
        "j > d",
        "s < d on True",
        "d > end on False",
    ];
    let inside = [
        log("s"),
        log("a"),
        event("b"),
        count("j", "n"),
        decide("d", "n < 2"),
        log("end"),
    ];
    let mut instance = Instance::run(remembering(json!({ "n": 0 }), chart(&arrows, inside)));
    assert_eq!(instance.lines(), ["s", "a"]);
    instance.event("b", json!({}));
    assert_eq!(instance.lines(), ["s", "a", "s", "a"]);
    assert_eq!(instance.state.waiting().len(), 1);
    instance.event("b", json!({}));
    assert_eq!(instance.lines(), ["s", "a", "s", "a", "end"]);
    instance.is_finished();
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let two = || [log("s"), log("a")];
    for (drawn, field) in [
        (chart(&[], two()), "with.connections"),
        (chart(&["s > a", "a > s"], two()), "with.connections"),
        (chart(&["s > a", "a > a"], two()), "with.connections"),
        (chart(&["s > a", "a > x"], two()), "with.connections.1.to"),
        (chart(&["s > a", "x > a"], two()), "with.connections.1.from"),
        (joined(chart(&["s > a"], two()), "x"), "with.joins"),
        (chart(&[], [log("a")]), "with.start"),
    ] {
        let error = refused(definition(drawn)).to_string();
        for part in ["definition=facts", "node=chart", field] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_long_chart_is_checked_and_run_quickly() {
    let names: Vec<_> = (0..1_000).map(|at| format!("n{at}")).collect();
    let mut arrows = vec!["s > n0".to_owned()];
    arrows.extend(
        names
            .windows(2)
            .map(|two| format!("{} > {}", two[0], two[1])),
    );
    let arrows: Vec<_> = arrows.iter().map(String::as_str).collect();
    let inside = names.iter().map(|name| log(name)).chain([log("s")]);
    let began = std::time::Instant::now();
    let instance = Instance::run(definition(chart(&arrows, inside)));
    assert_eq!(instance.lines().len(), 1_001);
    let took = began.elapsed();
    assert!(took.as_secs() < 20, "too late: {took:?}");
}
