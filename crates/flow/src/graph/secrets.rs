//! Which names stand for what nobody may see.

use crate::{definition::Definition, expression::Ready};
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

/// Whether what `ready` gives could tell a secret: it asks for one, for a part of one, or for all inputs at once.
pub(super) fn told(ready: &Ready, secrets: &BTreeSet<String>) -> bool {
    ready.paths().any(|path| {
        secrets.iter().any(|secret| {
            path == secret
                || path
                    .strip_prefix(secret.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
                || secret
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('.'))
        })
    })
}
