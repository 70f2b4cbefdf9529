//! Whether definitions that are written in Rust are those that their JSON gives, with the same mistakes refused.

#![allow(clippy::unwrap_used)]

use lockwork_core::workflow::{IncidentStrategy, VersionId};
use lockwork_flow::{
    Activation, Activity, Commit, Cx, Definition, Descriptor, Doing, Given, Graph, Input,
    Parameter, Registry, Retry, build::*, done,
};
use serde_json::{Value, json};
use std::time::Duration;

/// What is said of a mistake.
fn refused(workflow: Workflow) -> String {
    workflow.build().unwrap_err().to_string()
}

#[track_caller]
fn says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn what_is_built_is_what_its_json_gives() {
    let policy = Retry::new(2, Duration::from_millis(1500))
        .factor(1.5)
        .at_most(Duration::from_secs(60))
        .on("a")
        .on("b");
    let built = workflow("all")
        .name("All")
        .description("Everything that can be said.")
        .input(
            Parameter::new("who")
                .required()
                .secret()
                .description("whom"),
        )
        .output("result")
        .variable("seen", json!([1]))
        .secret_variable("token", "t")
        .activation(Activation::SingleCorrelation)
        .incidents(IncidentStrategy::Continue)
        .commit(Commit::Step)
        .root(event("root", "Started").into("seen").retry(policy).starts())
        .build()
        .unwrap();
    assert_eq!(Definition::from_json(&built.to_json()).unwrap(), built);
    let json: Value = serde_json::from_str(&built.to_json()).unwrap();
    let expected = json!({
        "lockwork": 1,
        "id": "all",
        "name": "All",
        "description": "Everything that can be said.",
        "inputs": [{ "name": "who", "required": true, "secret": true, "description": "whom" }],
        "outputs": [{ "name": "result" }],
        "variables": [{ "name": "seen", "value": [1] }, { "name": "token", "value": "t", "secret": true }],
        "options": { "activation": "singleCorrelation", "incidents": "continue", "commit": "step" },
        "root": {
            "type": "Event",
            "id": "root",
            "with": { "name": "Started" },
            "into": "seen",
            "starts": true,
            "retry": { "times": 2, "after": "1s500ms", "factor": 1.5, "atMost": "1m", "on": ["a", "b"] },
        },
    });
    assert_eq!(json, expected);
}

#[test]
fn a_value_that_looks_like_an_expression_is_one_as_in_json() {
    let looks = Input::Value(json!({ "$expr": "input.who" }));
    let built = workflow("w").root(log("hello", looks)).build().unwrap();
    assert_eq!(built.root.with["text"], expr("input.who"));
}

#[test]
fn an_id_that_is_none_is_told_with_the_definition_and_the_node_around_it() {
    let nameless = sequence("main", [if_("large", true).then(log("", "yes"))]);
    let error = refused(workflow("orders").root(nameless));
    says(
        &error,
        &[
            "an id is not empty",
            "definition=orders",
            "node=main/large",
            "field=id",
        ],
    );
    says(
        &refused(workflow("").root(finish("end"))),
        &["an id is not empty", "id of=definition"],
    );
}

#[test]
fn a_workflow_without_a_root_is_refused_as_its_json_is() {
    let json = Definition::from_value(json!({ "lockwork": 1, "id": "empty" }));
    assert_eq!(refused(workflow("empty")), json.unwrap_err().to_string());
}

#[test]
fn a_name_that_is_declared_twice_is_refused_as_in_json() {
    let twice = json!([{ "name": "total" }, { "name": "total" }]);
    let root = json!({ "type": "Finish", "id": "end" });
    let json = json!({ "lockwork": 1, "id": "twice", "variables": twice, "root": root });
    let built = workflow("twice")
        .variable("total", ())
        .variable("total", ());
    let error = refused(built.root(finish("end")));
    assert_eq!(error, Definition::from_value(json).unwrap_err().to_string());
    says(
        &error,
        &["definition=twice", "field=variables", "name=total"],
    );
}

/// So many activities, each inside of the one before.
fn nested(depth: usize) -> (Draft, Value) {
    let inmost = (
        log("a", "b"),
        json!({ "type": "Log", "id": "a", "with": { "text": "b" } }),
    );
    (1..depth).fold(inmost, |(draft, json), _| {
        let json = json!({ "type": "Sequence", "id": "a", "do": [json] });
        (sequence("a", [draft]), json)
    })
}

#[test]
fn activities_that_are_nested_too_deep_are_refused_as_in_json() {
    let (built, json) = nested(49);
    let error = refused(workflow("deep").root(built));
    let json = Definition::from_value(json!({ "lockwork": 1, "id": "deep", "root": json }));
    assert_eq!(error, json.unwrap_err().to_string());
    says(&error, &["more than 48 deep", "definition=deep"]);
}

#[test]
fn the_deepest_workflow_can_be_written_and_read_again() {
    let built = workflow("deep").root(nested(48).0).build().unwrap();
    assert_eq!(Definition::from_json(&built.to_json()).unwrap(), built);
}

#[test]
fn too_many_activities_are_refused() {
    let list = (0..10_000).map(|number| finish(number.to_string()));
    let error = refused(workflow("large").root(sequence("main", list)));
    says(&error, &["at most 10000 activities", "definition=large"]);
}

#[test]
fn two_activities_under_one_name_are_refused() {
    let twice = if_("large", true)
        .then(log("a", "yes"))
        .then(log("b", "no"));
    let error = refused(workflow("w").root(twice));
    says(
        &error,
        &["there twice", "node=large", "field=do", "name=then"],
    );
}

#[test]
fn a_list_and_names_in_one_activity_are_refused() {
    let names = sequence("main", [finish("end")]).then(finish("then"));
    says(
        &refused(workflow("w").root(names)),
        &["one list", "node=main", "field=do"],
    );
    let list = if_("if", true)
        .then(finish("then"))
        .activities([finish("end")]);
    says(
        &refused(workflow("w").root(list)),
        &["one list", "node=if", "field=do"],
    );
}

#[test]
fn an_outcome_without_an_arrow_is_refused() {
    let chart = flowchart("chart").activity("a", finish("a")).on("True");
    let error = refused(workflow("w").root(chart));
    says(
        &error,
        &[
            "connect two activities first",
            "node=chart",
            "field=with.connections",
        ],
    );
}

#[test]
fn waits_that_grow_by_what_is_no_number_are_refused() {
    for factor in [f64::NAN, f64::INFINITY, -1.0] {
        let policy = Retry::new(1, Duration::from_secs(1)).factor(factor);
        let error = refused(workflow("w").root(finish("end").retry(policy)));
        says(&error, &["not negative", "node=end", "field=retry.factor"]);
    }
}

/// An activity that is not of this crate.
#[derive(Debug)]
struct Greet;

const GREET: [Given; 1] = [Given::new("who", "whom").required()];

impl Activity for Greet {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Greet", "Greets.")
            .given(&GREET)
            .gives("the answer")
    }

    fn execute<'a>(&'a self, _: &'a mut Cx<'_>) -> Doing<'a> {
        done()
    }
}

#[test]
fn an_activity_of_ones_own_is_built_like_the_others() {
    let greet = activity("Greet", "hello")
        .with("who", expr("input.who"))
        .into("answer");
    let definition = workflow("w")
        .variable("answer", ())
        .root(greet)
        .build()
        .unwrap();
    let version = VersionId::new("1").unwrap();
    Graph::new(definition, version, &Registry::standard().with(Greet)).unwrap();
}
