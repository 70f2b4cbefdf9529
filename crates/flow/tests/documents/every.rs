//! A workflow in which every standard activity stands.

use crate::{running, validator};
use lockwork_core::workflow::VersionId;
use lockwork_flow::{Definition, Graph, Node, Registry, build::*, schema};
use serde_json::json;
use std::collections::BTreeSet;

fn waits() -> Draft {
    let waits = [
        event("event", "Ordered").into("last").starts(),
        timer("timer", "10m").starts(),
        start_at("start-at", "2027-01-31T09:00:00Z").starts(),
        cron("cron", "0 3 * * *").starts(),
        delay("delay", expr("input.patience")),
        run_task("task", "Pack").into("last"),
        http_endpoint("endpoint", "POST", "/orders/{id}")
            .with("correlation", "id")
            .into("last")
            .starts(),
    ];
    race("waits", waits)
}

fn works() -> Draft {
    let works = [
        call("call", "charge").into("last"),
        job("job", "report").into("last"),
        http("http", "https://example.com").into("last"),
        shell("shell", "df").into("last"),
        dispatch("dispatch", "billing").into("last"),
        execute_workflow("execute", "billing").into("last"),
        bulk_dispatch("bulk", "billing", json!([1, 2])).into("last"),
    ];
    parallel("works", works)
}

fn loops() -> Draft {
    let each = parallel_for_each("each", json!([1, 2]), log("item", expr("item")));
    let first = for_each("first", json!([1, 2]), break_("enough"));
    fork("loops", [each, while_("while", false, first)])
}

fn ways() -> Draft {
    let chart = flowchart("chart")
        .start("large")
        .activity("large", decide("large", expr("last == none")))
        .activity("level", choose("level", expr("input.level")))
        .connect("large", "level")
        .on("True")
        .connect("level", "large")
        .on("again")
        .back();
    let level = switch("switch", expr("input.level")).activity("default", chart);
    let refused = fault("refused", "refused", text("{{ input.level }}"));
    try_("try", refused).catch(if_("if", true).then(level).otherwise(finish("finish")))
}

fn says() -> Draft {
    let says = [
        correlate("correlate", expr("input.order")),
        set_name("name", text("Order {{ input.order }}")),
        set_variable("variable", "last", json!({ "order": expr("input.order") })),
        set_output("output", "result", expr("last")),
        publish_event("publish", "Ordered").with("local", true),
        http_response("response").with("status", 201),
    ];
    sequence("says", says)
}

fn every() -> Definition {
    workflow("every")
        .output("result")
        .variable("last", ())
        .root(sequence(
            "main",
            [waits(), works(), loops(), ways(), says()],
        ))
        .build()
        .unwrap()
}

fn kinds(node: &Node) -> BTreeSet<&str> {
    let inside = node.children().flat_map(|(_, child)| kinds(child));
    inside.chain([node.kind.as_str()]).collect()
}

#[test]
fn every_standard_activity_has_a_function_in_the_builder() {
    let standard: BTreeSet<_> = Registry::standard().kinds().collect();
    assert_eq!(kinds(&every().root), standard);
}

#[test]
fn what_the_builder_says_of_every_activity_has_a_graph() {
    let version = VersionId::new("1").unwrap();
    Graph::new(every(), version, &running::registry()).unwrap();
}

#[test]
fn what_the_builder_says_of_every_activity_is_accepted_by_the_schema() {
    let json = serde_json::from_str(&every().to_json()).unwrap();
    assert!(validator::accepts(&schema(&Registry::standard()), &json));
}

#[test]
fn what_the_builder_says_of_every_activity_is_read_from_json_the_same() {
    let read = Definition::from_json(&every().to_json()).unwrap();
    assert_eq!(read, every());
}
