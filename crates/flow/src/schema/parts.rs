//! What definitions are made of besides activities.

use crate::definition::{Activation, Commit};
use lockwork_core::workflow::{IncidentStrategy, Value};
use serde_json::json;

/// The part of this name, and what it is for here.
pub(super) fn refer(name: &str, about: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}"), "description": about })
}

pub(super) fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// Bytes are at least as many as characters, so this refuses no id that is one.
pub(super) fn id(about: &str, most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": about })
}

pub(super) fn list(about: &str, of: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/$defs/{of}") }, "description": about })
}

pub(super) fn truth(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

const SECRET: &str = "Whether nobody may see it: it is in no journal, no log and no export.";

pub(super) fn parameter() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": text("What it is called."),
            "description": text("What it is for."),
            "required": truth("Whether an instance cannot be created without."),
            "secret": truth(SECRET),
        },
    })
}

pub(super) fn variable() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": text("What it is called."),
            "value": { "description": "What it is at first." },
            "secret": truth(SECRET),
        },
    })
}

pub(super) fn options() -> Value {
    let one_of = |about: &str, words: Value| json!({ "enum": words, "description": about });
    let activation = [
        Activation::Any,
        Activation::Single,
        Activation::Correlation,
        Activation::SingleCorrelation,
    ];
    let incidents = [IncidentStrategy::Fault, IncidentStrategy::Continue];
    let commit = [Commit::Burst, Commit::Step];
    json!({
        "description": "How it is run.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "activation": one_of("How many instances of it may run at once.", json!(activation)),
            "incidents": one_of("What becomes of an instance in which an activity fails.", json!(incidents)),
            "commit": one_of("How often what happened is written down.", json!(commit)),
        },
    })
}

pub(super) fn retry() -> Value {
    json!({
        "type": "object",
        "required": ["times", "after"],
        "additionalProperties": false,
        "properties": {
            "times": {
                "type": "integer",
                "minimum": 0,
                "maximum": u32::MAX,
                "description": "How often, after the first time.",
            },
            "after": refer("length", "How long to wait before the first of them."),
            "factor": {
                "type": "number",
                "minimum": 0,
                "description": "How many times as long to wait before each following one.",
            },
            "atMost": refer("length", "The longest wait."),
            "on": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The codes of failures that are worth it; all, if none is named.",
            },
        },
    })
}

pub(super) fn length() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "description": "A length of time.",
        "examples": ["250ms", "90s", "1h30m", "2d"],
    })
}

pub(super) fn tagged(key: &str, about: &str) -> Value {
    json!({
        "description": about,
        "type": "object",
        "required": [key],
        "additionalProperties": false,
        "properties": { (key): { "type": "string" } },
    })
}

/// Whatever is no expression and no text is itself, so nothing is refused: this is for those who read.
pub(super) fn input() -> Value {
    json!({
        "description": "A value, an expression or a text. The latter two may also stand inside of a value.",
        "anyOf": [{ "$ref": "#/$defs/expression" }, { "$ref": "#/$defs/text" }, true],
    })
}

/// Expressions may stand anywhere inside of a value, so they are looked for everywhere.
pub(super) fn plain() -> Value {
    let plain = || json!({ "$ref": "#/$defs/plain" });
    json!({
        "description": "A value that is known before anything is executed.",
        "not": { "anyOf": [{ "$ref": "#/$defs/expression" }, { "$ref": "#/$defs/text" }] },
        "items": plain(),
        "additionalProperties": plain(),
    })
}
