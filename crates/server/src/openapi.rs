//! The description of the API, made of the list of its operations.

use crate::{
    limits::Limits,
    routes::{Access, Given, OPERATIONS, Operation, Parameter, is_well},
};
use serde_json::{Map, Value, json};

/// What operations take and give.
const SCHEMAS: &str = include_str!("schemas.json");

/// There is no word for any method, and no way to say one thing of several: each is described, and has a name of its own.
const METHODS: [(&str, &str); 5] = [
    ("delete", "ByDelete"),
    ("get", "ByGet"),
    ("patch", "ByPatch"),
    ("post", ""),
    ("put", "ByPut"),
];

/// The document.
pub(crate) fn document(limits: &Limits, base: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let place = operation.place(base);
        let path = paths.entry(place).or_insert_with(|| json!({}));
        match operation.method {
            "any" => METHODS.iter().for_each(|(method, suffix)| {
                let mut described = described(operation);
                described["operationId"] = format!("{}{suffix}", operation.name).into();
                path[*method] = described;
            }),
            method => path[method] = described(operation),
        }
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "lockwork",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "A node that runs workflows. Bodies have {} bytes at most; a request takes {} s at most.",
                limits.body,
                limits.time.as_secs(),
            ),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn described(operation: &Operation) -> Value {
    let mut described = json!({
        "operationId": operation.name,
        "summary": operation.says,
        "parameters": parameters(operation),
        "responses": responses(operation),
    });
    if let Some(taken) = operation.takes {
        described["requestBody"] =
            json!({ "content": { "application/json": { "schema": reference(taken) } } });
    }
    let security = match operation.access {
        Access::Declared => json!([{ "key": [] }, {}]),
        _ => json!([{ "key": [] }]),
    };
    if let Some(scope) = operation.access.scope() {
        described["security"] = security;
        described["x-scope"] = json!(scope.as_str());
    }
    described
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let named = operation.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        let is_id = ["/v1/definitions/", "/v1/instances/"];
        let is_id = is_id.iter().any(|place| operation.path.starts_with(place));
        let schema = reference(if is_id { "Id" } else { "Name" });
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    });
    let asked = operation.asks.iter().map(|Parameter(name, schema, says)| {
        json!({ "name": name, "in": "query", "description": says, "schema": reference(schema) })
    });
    named.chain(asked).collect()
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    for Given(status, schema, says) in operation.gives {
        let mut response = json!({ "description": says });
        if let Some(schema) = schema {
            let kind = kind_of(schema);
            response["content"] = json!({ kind: { "schema": reference(schema) } });
        }
        responses.insert(status.to_string(), response);
    }
    if operation.access == Access::Declared {
        let says = "What the workflow answers.";
        responses.insert("default".to_owned(), json!({ "description": says }));
    }
    for status in refusals(operation) {
        let says = reason(status);
        let content = json!({ "application/problem+json": { "schema": reference("Problem") } });
        responses.insert(
            status.to_string(),
            json!({ "description": says, "content": content }),
        );
    }
    responses.into()
}

fn kind_of(schema: &str) -> &'static str {
    match schema {
        "Text" => "text/plain",
        "Stream" => "text/event-stream",
        _ => "application/json",
    }
}

/// What an operation may answer when not all is well.
fn refusals(operation: &Operation) -> Vec<u16> {
    let always: &[u16] = match operation.access {
        Access::Always => &[],
        Access::Signed => &[400, 500, 503, 504],
        Access::Watches => &[401, 403],
        Access::Declared | Access::Needs(_) => &[400, 401, 403, 500, 503, 504],
    };
    let body: &[u16] = match operation.takes {
        Some(_) => &[408, 413, 415],
        None => &[],
    };
    let all = always.iter().chain(operation.refuses).chain(body);
    let given = |status: &&u16| {
        operation
            .gives
            .iter()
            .all(|Given(given, ..)| given != *status)
    };
    all.filter(given)
        .copied()
        .filter(|status| !is_well(*status))
        .collect()
}

const fn reason(status: u16) -> &'static str {
    match status {
        400 => "What was asked is wrong.",
        401 => "There was no key that this node knows.",
        403 => "The key, or the link, is not good for this.",
        404 => "There is nothing called so.",
        405 => "It is not asked by this method.",
        408 => "The body did not come in time.",
        409 => "It is not as it was believed to be, or somebody else is at it.",
        413 => "The body is too large.",
        415 => "The body is not said to be JSON.",
        422 => "It could be read, and makes no sense.",
        501 => "This node, or its lock server, cannot do that.",
        503 => {
            "The store or the lock server does not answer, or the node ends or has too much to do: try again."
        }
        504 => "It took too long to wait for, and may go on.",
        _ => "Something went wrong in the node: report it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn named(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if let ("$ref", Some(text)) = (name.as_str(), value.as_str()) {
                        found.insert(text.rsplit('/').next().unwrap().to_owned());
                    }
                    named(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| named(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_that_is_named_is_there_and_every_one_is_named() {
        let document = document(&Limits::default(), "/hooks");
        let mut found = BTreeSet::new();
        named(&document, &mut found);
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let there: BTreeSet<_> = schemas.keys().cloned().collect();
        assert_eq!(found, there);
        assert!(document["paths"]["/hooks/{path}"].is_object());
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let names: BTreeSet<_> = OPERATIONS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
        let places: BTreeSet<_> = OPERATIONS
            .iter()
            .map(|one| (one.method, one.path))
            .collect();
        assert_eq!(places.len(), OPERATIONS.len());
    }
}
