//! The definitions in the examples: the same in JSON and in Rust, and ready to run.

use crate::{drafts, kept, running, validator};
use lockwork_core::workflow::{SubStatus, VersionId};
use lockwork_flow::{Definition, Graph, Registry, schema};
use serde_json::{Value, json};

#[test]
fn each_example_that_is_written_here_is_in_its_file_byte_for_byte() {
    for (file, definition) in drafts::written() {
        let path = format!("crates/lockwork/examples/definitions/{file}");
        kept::check(&path, &(definition.to_json() + "\n"));
    }
}

#[test]
fn each_example_is_read_as_the_value_that_the_builder_gives() {
    for (file, definition) in drafts::all() {
        let read = Definition::from_json(&definition.to_json()).expect(file);
        assert_eq!(read, definition, "{file}");
    }
}

#[test]
fn each_example_has_a_graph() {
    let registry = running::registry();
    for (file, definition) in drafts::all() {
        let version = VersionId::new("1").unwrap();
        Graph::new(definition, version, &registry).expect(file);
    }
}

#[test]
fn the_schema_accepts_each_example() {
    let schema = schema(&Registry::standard());
    for (file, definition) in drafts::all() {
        let json: Value = serde_json::from_str(&definition.to_json()).unwrap();
        assert!(validator::accepts(&schema, &json), "{file}");
    }
}

const ORDER: &str = "A-17";

#[test]
fn an_order_that_is_approved_is_charged() {
    let order = json!({ "order": ORDER, "amount": 30 });
    let mut instance = running::Instance::new(drafts::order_approval().unwrap(), order);
    instance.resume("Event", json!({ "approved": true }));
    assert_eq!(instance.output(), json!({ "result": "charged" }));
}

#[test]
fn an_order_that_nobody_approves_in_three_days_is_refunded() {
    let order = json!({ "order": ORDER, "amount": 30 });
    let mut instance = running::Instance::new(drafts::order_approval().unwrap(), order);
    instance.resume("Delay", json!({}));
    assert_eq!(instance.output(), json!({ "result": "refunded" }));
}

#[test]
fn an_order_that_cannot_be_charged_is_refunded() {
    let order = json!({ "order": ORDER, "amount": -1 });
    let mut instance = running::Instance::new(drafts::order_approval().unwrap(), order);
    instance.resume("Event", json!({ "approved": true }));
    assert_eq!(instance.output(), json!({ "result": "refunded" }));
}

#[test]
fn a_fan_out_adds_up_the_prices_of_its_lines() {
    let lines = json!([{ "quantity": 2, "unit": 30 }, { "quantity": 1, "unit": 5 }]);
    let mut instance =
        running::Instance::new(drafts::fan_out().unwrap(), json!({ "lines": lines }));
    for (id, input) in instance.dispatched() {
        let child = running::Instance::new(drafts::price_one().unwrap(), input);
        let over =
            json!({ "instance": id, "status": SubStatus::Finished, "output": child.output() });
        instance.resume("Child", over);
    }
    assert_eq!(instance.output(), json!({ "total": 65 }));
}
