//! What an activity is given: a value, or what becomes one when the activity is executed.

use lockwork_core::workflow::{Value, Values};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const EXPRESSION: &str = "$expr";
const TEXT: &str = "$text";

/// What an activity is given. In JSON itself, unless it is an object with the one key `$expr` or `$text`.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// This.
    Value(Value),
    /// What this expression gives: `input.total > 100`.
    Expression(String),
    /// This text, with `{{ expressions }}` in it.
    Text(String),
}

impl Input {
    /// What `expression` gives.
    #[must_use]
    pub fn expression(expression: impl Into<String>) -> Self {
        Self::Expression(expression.into())
    }

    /// `text`, with `{{ expressions }}` in it.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// As it is once it was written as JSON and read again: a value that looks like an expression is one.
    pub(crate) fn written(self) -> Self {
        match self {
            Self::Value(value) => read(value),
            other => other,
        }
    }
}

impl<T: Into<Value>> From<T> for Input {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let tagged = |key: &str, text: &String| {
            Value::Object(Values::from_iter([(key.to_owned(), text.clone().into())]))
        };
        match self {
            Self::Value(value) => value.serialize(to),
            Self::Expression(text) => tagged(EXPRESSION, text).serialize(to),
            Self::Text(text) => tagged(TEXT, text).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(read(Value::deserialize(from)?))
    }
}

/// A text under one of the two keys, alone; everything else is itself.
pub(super) fn read(value: Value) -> Input {
    tagged(&value).unwrap_or(Input::Value(value))
}

/// An expression or a text, if `value` is one.
pub(crate) fn tagged(value: &Value) -> Option<Input> {
    let Value::Object(fields) = value else {
        return None;
    };
    let (key, Value::String(text)) = fields.iter().next().filter(|_| fields.len() == 1)? else {
        return None;
    };
    match key.as_str() {
        EXPRESSION => Some(Input::Expression(text.clone())),
        TEXT => Some(Input::Text(text.clone())),
        _ => None,
    }
}
