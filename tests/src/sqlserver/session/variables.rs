//! Variables.

use super::Session;
use crate::sqlserver::sql::{
    Message,
    value::{Type, Value},
};
use std::collections::BTreeMap;

/// The variables of a batch or of a text that is executed, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: BTreeMap<String, Value>,
}

impl Scope {
    pub(super) fn declare(&mut self, name: &str, kind: Type) {
        self.values.insert(name.into(), Value::null(kind));
    }

    /// Gives a variable its value, which is of the right type already.
    pub(super) fn fill(&mut self, name: &str, value: Value) {
        self.values.insert(name.into(), value);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
}

impl Session {
    pub(super) fn declare(&mut self, name: &str, kind: Type) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.declare(name, kind);
        }
    }

    pub(super) fn variable(&self, name: &str) -> Result<Value, Message> {
        let value = self.scopes.last().and_then(|scope| scope.get(name));
        value.cloned().ok_or_else(|| Message::undeclared(name))
    }

    /// Gives a variable a value of its own type.
    pub(super) fn assign(&mut self, name: &str, value: &Value) -> Result<(), Message> {
        let kind = self.variable(name)?.kind;
        let value = value.convert(kind)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.values.insert(name.into(), value);
        }
        Ok(())
    }
}
