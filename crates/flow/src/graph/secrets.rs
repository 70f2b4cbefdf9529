//! Which names stand for what nobody may see.

use crate::definition::Definition;
use std::collections::BTreeSet;

/// Variables by their names, inputs as `input.name`, outputs as `output.name`.
pub(super) fn of(definition: &Definition) -> BTreeSet<String> {
    let variables = definition.variables.iter().filter(|one| one.secret);
    let variables = variables.map(|one| one.name.clone());
    let inputs = definition.inputs.iter().filter(|one| one.secret);
    let inputs = inputs.map(|one| format!("input.{}", one.name));
    let outputs = definition.outputs.iter().filter(|one| one.secret);
    let outputs = outputs.map(|one| format!("output.{}", one.name));
    variables.chain(inputs).chain(outputs).collect()
}

/// Whether `path` tells a secret: it is one, a part of one, or has one in it, as all inputs together have.
pub(super) fn told(path: &str, secrets: &BTreeSet<String>) -> bool {
    let is_in = |part: &str, whole: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut secrets = secrets.iter();
    secrets.any(|secret| is_in(path, secret) || is_in(secret, path))
}
