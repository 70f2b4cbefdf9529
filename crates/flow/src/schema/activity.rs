//! What a definition may say about one activity.

use super::parts;
use crate::activity::{Contains, Descriptor, Given};
use lockwork_core::workflow::{ActivityId, Value, Values};
use serde_json::json;

/// The branch of the schema for the activity that is described so.
pub(super) fn of(descriptor: &Descriptor) -> Value {
    let mut node = Fields::default();
    node.needs("type", json!({ "const": descriptor.kind }));
    node.needs(
        "id",
        parts::id("What its author calls it.", ActivityId::MAX_BYTES),
    );
    node.may("retry", parts::refer("retry", "What to do when it fails."));
    if !descriptor.inputs.is_empty() {
        let required = descriptor.inputs.iter().any(|given| given.required);
        node.add("with", with(descriptor.inputs), required);
    }
    if let Some((contents, required)) = contents(descriptor.contains) {
        node.add("do", contents, required);
    }
    if let Some(gives) = descriptor.gives {
        node.may(
            "into",
            parts::text(&format!("Which variable this goes to: {gives}.")),
        );
    }
    if descriptor.can_start {
        let about = "Whether what it waits for starts new instances too.";
        node.may("starts", parts::truth(about));
    }
    let mut schema = node.schema();
    schema["title"] = descriptor.kind.into();
    schema["description"] = descriptor.about.into();
    schema
}

fn with(inputs: &[Given]) -> Value {
    let mut with = Fields::default();
    for given in inputs {
        let name = if given.fixed { "plain" } else { "input" };
        with.add(given.name, parts::refer(name, given.about), given.required);
    }
    with.schema()
}

/// What stands in `do`, and whether it has to.
fn contents(contains: Contains) -> Option<(Value, bool)> {
    let activity = || json!({ "$ref": "#/$defs/activity" });
    match contains {
        Contains::Nothing => None,
        Contains::List => Some((json!({ "type": "array", "items": activity() }), false)),
        Contains::Any => {
            let any = json!({ "type": "object", "additionalProperties": activity() });
            Some((any, true))
        }
        Contains::Ports { required, optional } => {
            let mut ports = Fields::default();
            required
                .iter()
                .for_each(|port| ports.needs(port, activity()));
            optional.iter().for_each(|port| ports.may(port, activity()));
            Some((ports.schema(), !required.is_empty()))
        }
    }
}

/// An object that has these fields and no others.
#[derive(Default)]
struct Fields {
    properties: Values,
    required: Vec<String>,
}

impl Fields {
    fn add(&mut self, name: &str, schema: Value, required: bool) {
        self.properties.insert(name.to_owned(), schema);
        if required {
            self.required.push(name.to_owned());
        }
    }

    fn needs(&mut self, name: &str, schema: Value) {
        self.add(name, schema, true);
    }

    fn may(&mut self, name: &str, schema: Value) {
        self.add(name, schema, false);
    }

    fn schema(self) -> Value {
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "additionalProperties": false,
        });
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        schema
    }
}
