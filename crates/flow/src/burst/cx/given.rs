//! What an activity is given, as it is when it asks.

use super::Cx;
use crate::{burst::HIDDEN, graph::Prepared};
use lockwork_core::workflow::{Failure, Value, Values};

impl Cx<'_> {
    /// What it is given under this name, as it is now.
    ///
    /// # Errors
    /// `expression`, if the expression cannot be evaluated.
    pub fn value(&self, name: &str) -> Result<Option<Value>, Failure> {
        self.value_with(name, &Values::new())
    }

    /// What it is given under this name, if expressions know these names besides.
    ///
    /// # Errors
    /// `expression`, if the expression cannot be evaluated.
    pub fn value_with(&self, name: &str, besides: &Values) -> Result<Option<Value>, Failure> {
        let Some(input) = self.vertex().and_then(|vertex| vertex.inputs.get(name)) else {
            return Ok(None);
        };
        let known = |name: &str| besides.get(name).cloned().or_else(|| self.known(name));
        self.evaluate(input, &known).map(Some).map_err(|message| {
            Failure::new(
                "expression",
                format!("`{name}` cannot be evaluated: {message}"),
            )
        })
    }

    /// What it is given under this name, if the definition says it plainly.
    pub(crate) fn plain(&self, name: &str) -> Option<&Value> {
        match self.vertex()?.inputs.get(name)? {
            Prepared::Value(value) => Some(value),
            _ => None,
        }
    }

    /// What it is given under this name, as people may see it: where it is made of secrets, those are left out.
    ///
    /// # Errors
    /// Those of [`value`](Self::value).
    pub fn shown(&self, name: &str) -> Result<Option<Value>, Failure> {
        let value = self.value(name)?;
        let told = self.vertex().filter(|vertex| vertex.tells.contains(name));
        let Some(input) = told.and_then(|vertex| vertex.inputs.get(name)) else {
            return Ok(value);
        };
        let seen = self.evaluate(input, &|name| Some(self.veiled(name, self.known(name)?)));
        // With something else in its place it may make no sense, and then it is better not seen at all.
        Ok(Some(seen.unwrap_or_else(|_| HIDDEN.into())))
    }

    fn veiled(&self, name: &str, mut value: Value) -> Value {
        let graph = &self.burst.graph;
        let inner = self
            .vertex()
            .is_some_and(|vertex| vertex.hidden.contains(name));
        if inner || graph.is_secret(name) {
            return HIDDEN.into();
        }
        if let ("input" | "output", Value::Object(fields)) = (name, &mut value) {
            let secret = fields
                .iter_mut()
                .filter(|(field, _)| graph.is_secret(&format!("{name}.{field}")));
            secret.for_each(|(_, value)| *value = HIDDEN.into());
        }
        value
    }

    fn evaluate(
        &self,
        input: &Prepared,
        known: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Value, String> {
        let known = |ready: &crate::expression::Ready| {
            let names = ready.names();
            let names = names.filter_map(|name| Some((name.to_owned(), known(name)?)));
            names.collect()
        };
        input.evaluate(&known).map_err(|problem| problem.0)
    }

    /// What stands for `name` here: from the inside to the outside.
    fn known(&self, name: &str) -> Option<Value> {
        let state = &self.burst.state;
        let mut around = Some(self.number);
        while let Some(context) = around.and_then(|number| state.contexts.get(&number)) {
            if let Some(value) = context.scope.get(name) {
                return Some(value.clone());
            }
            around = context.owner;
        }
        if let Some(value) = state.variables.get(name) {
            return Some(value.clone());
        }
        match name {
            "input" => Some(Value::Object(state.input.clone())),
            "output" => Some(Value::Object(state.output.clone())),
            "instance" => Some(serde_json::json!({
                "id": state.instance,
                "correlation": state.correlation,
                "name": state.name,
            })),
            _ => None,
        }
    }

    /// What it is given under this name, which has to be text.
    ///
    /// # Errors
    /// That it is not.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        text(name, self.value(name)?)
    }

    /// The same, as people may see it.
    ///
    /// # Errors
    /// That it is not.
    pub fn shown_text(&self, name: &str) -> Result<Option<String>, Failure> {
        text(name, self.shown(name)?)
    }

    /// What it is given under this name, which has to be there and to be text.
    ///
    /// # Errors
    /// That it is not.
    pub fn required_text(&self, name: &str) -> Result<String, Failure> {
        let missing = || Failure::new("input.missing", format!("`{name}` is not given"));
        self.text(name)?.ok_or_else(missing)
    }

    /// What it is given under this name, which has to be true or false.
    ///
    /// # Errors
    /// That it is neither.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.value(name)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(yes)) => Ok(Some(yes)),
            Some(other) => Err(unfit(name, "true or false", &other)),
        }
    }

    /// What it is given under this name, which has to be a list.
    ///
    /// # Errors
    /// That it is not.
    pub fn list(&self, name: &str) -> Result<Vec<Value>, Failure> {
        match self.value(name)? {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(unfit(name, "a list", &other)),
        }
    }
}

fn text(name: &str, value: Option<Value>) -> Result<Option<String>, Failure> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(unfit(name, "a text", &other)),
    }
}

fn unfit(name: &str, wanted: &str, got: &Value) -> Failure {
    let got = match got {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Failure::new(
        "input.type",
        format!("`{name}` has to be {wanted} and is {got}"),
    )
}
