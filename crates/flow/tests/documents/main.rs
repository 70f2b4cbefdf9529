//! Whether the schema, the table of activities and the examples say what the program says.
//!
//! This writes them anew:
//!
//! ```sh
//! LOCKWORK_RENEW=1 cargo test -p lockwork-flow --test documents
//! ```

#![allow(clippy::unwrap_used)]

mod drafts;
mod every;
mod examples;
mod kept;
mod refused;
mod running;
mod table;
mod validator;

use lockwork_flow::{Registry, schema};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_schema_in_the_documents_is_that_of_the_standard_activities() {
    let schema = sorted(schema(&Registry::standard()));
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    kept::check("docs/schema/definition.json", &text);
}

#[test]
fn the_table_of_activities_in_the_documents_is_what_they_say_of_themselves() {
    kept::check("docs/activities.md", &table::page(&Registry::standard()));
}

/// The same, whatever order maps of JSON have in this build.
fn sorted(json: Value) -> Value {
    match json {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (key, sorted(value)));
            let fields: BTreeMap<_, _> = fields.collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        plain => plain,
    }
}
