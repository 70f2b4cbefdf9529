//! What an activity is given, made ready when a graph is made.

use crate::{
    definition::{self, Input},
    expression::{Problem, Ready},
};
use lockwork_core::workflow::{Value, Values};

/// A value, or what becomes one.
#[derive(Debug)]
pub(crate) enum Prepared {
    Value(Value),
    Ready(Ready),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Prepared {
    pub(crate) fn of(input: &Input) -> Result<Self, Problem> {
        match input {
            Input::Expression(source) => Ready::expression(source).map(Self::Ready),
            Input::Text(source) => Ready::text(source).map(Self::Ready),
            Input::Value(value) => Self::value(value),
        }
    }

    /// Expressions may stand anywhere inside of a value.
    fn value(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::inner).collect::<Result<_, _>>()?;
                Ok(match items.iter().all(Self::is_plain) {
                    true => Self::Value(value.clone()),
                    false => Self::List(items),
                })
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Self::inner(value)?)));
                let fields: Vec<_> = fields.collect::<Result<_, _>>()?;
                Ok(match fields.iter().all(|(_, value)| value.is_plain()) {
                    true => Self::Value(value.clone()),
                    false => Self::Object(fields),
                })
            }
            plain => Ok(Self::Value(plain.clone())),
        }
    }

    fn inner(value: &Value) -> Result<Self, Problem> {
        match definition::read_input(value) {
            Some(input) => Self::of(&input),
            None => Self::value(value),
        }
    }

    pub(crate) const fn is_plain(&self) -> bool {
        matches!(self, Self::Value(_))
    }

    /// Calls `see` with each expression.
    pub(crate) fn each<'a>(&'a self, see: &mut impl FnMut(&'a Ready)) {
        match self {
            Self::Value(_) => {}
            Self::Ready(ready) => see(ready),
            Self::List(items) => items.iter().for_each(|item| item.each(see)),
            Self::Object(fields) => fields.iter().for_each(|(_, value)| value.each(see)),
        }
    }

    /// What it is now, if `known` has a value for each name that expressions ask for.
    pub(crate) fn evaluate(&self, known: &dyn Fn(&Ready) -> Values) -> Result<Value, Problem> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Ready(ready) => ready.evaluate(&known(ready))?,
            Self::List(items) => {
                let items = items.iter().map(|item| item.evaluate(known));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, value)| Ok((key.clone(), value.evaluate(known)?)));
                Value::Object(fields.collect::<Result<_, _>>()?)
            }
        })
    }
}
