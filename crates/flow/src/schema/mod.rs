//! A JSON schema of definitions, for editors and whoever checks definitions without running them.

mod activity;
mod parts;

use crate::{definition::FORMAT, registry::Registry};
use lockwork_core::workflow::{DefinitionId, Value};
use serde_json::json;

/// A JSON schema (draft 2020-12) of the definitions that can be written with the activities in `registry`.
///
/// What it refuses is no definition. What it accepts may still have mistakes that only a [`Graph`](crate::Graph)
/// finds: expressions that cannot be read, names that nobody declared.
///
/// ```
/// use lockwork_flow::{Registry, schema};
///
/// let schema = schema(&Registry::standard());
/// assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
/// ```
#[must_use]
pub fn schema(registry: &Registry) -> Value {
    let activities = registry.activities();
    let activities = activities.map(|activity| activity::of(&activity.describe()));
    let activities: Vec<_> = activities.collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A workflow of lockwork",
        "type": "object",
        "required": ["lockwork", "id", "root"],
        "additionalProperties": false,
        "properties": {
            "lockwork": { "const": FORMAT, "description": "The form in which it is written." },
            "id": parts::id("What it is called by programs.", DefinitionId::MAX_BYTES),
            "name": parts::text("What it is called by people."),
            "description": parts::text("What it is for."),
            "inputs": parts::list("What an instance is given.", "parameter"),
            "outputs": parts::list("What an instance gives.", "parameter"),
            "variables": parts::list("What an instance remembers.", "variable"),
            "options": parts::options(),
            "root": parts::refer("activity", "The activity it begins with."),
        },
        "$defs": {
            "activity": {
                "description": "What is done: `type` says what, and each has an `id` of its own among those around it.",
                "oneOf": activities,
            },
            "parameter": parts::parameter(),
            "variable": parts::variable(),
            "retry": parts::retry(),
            "length": parts::length(),
            "input": parts::input(),
            "plain": parts::plain(),
            "expression": parts::tagged("$expr", "What this expression gives: `input.total > 100`."),
            "text": parts::tagged("$text", "This text, with `{{ expressions }}` in it."),
        },
    })
}
