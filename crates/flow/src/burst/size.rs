//! How large values may be: whatever an instance remembers is written down and read again.

use crate::expression::MAX_DEPTH;
use lockwork_core::workflow::{Error, ErrorKind, Failure, Result, Value, Values};

/// The largest value of a variable or an output, in bytes of JSON, more or less.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// More or less: what a value takes as JSON, without writing it.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| key.len() + 4 + weight(value));
            fields.sum::<usize>() + 2
        }
    }
}

/// Whether `value` is nested more than so deep.
fn is_deeper(value: &Value, than: usize) -> bool {
    let mut inside: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => return false,
    };
    than == 0 || inside.any(|value| is_deeper(value, than - 1))
}

/// What is too large about `value`, if anything: it has to be written down and read again each time.
pub(crate) fn large(value: &Value) -> Option<String> {
    if is_deeper(value, MAX_DEPTH) {
        return Some(format!("is nested more than {MAX_DEPTH} deep"));
    }
    let too_long = weight(value) > MAX_VALUE_BYTES;
    too_long.then(|| format!("has more than {MAX_VALUE_BYTES} bytes: keep it elsewhere"))
}

pub(super) fn fits(name: &str, value: &Value) -> Result<(), Failure> {
    match large(value) {
        None => Ok(()),
        Some(large) => {
            let message = format!("what should go into `{name}` {large}");
            Err(Failure::new("value.large", message))
        }
    }
}

/// Whether an instance can be given this, or an activity in it.
///
/// # Errors
/// [`ErrorKind::Invalid`] if it is too large or nested too deep.
pub fn check_input(input: &Values) -> Result<()> {
    if input.values().any(|value| is_deeper(value, MAX_DEPTH)) {
        let message = "what an instance is given is nested too deep";
        return Err(Error::new(ErrorKind::Invalid, message).with("at most", MAX_DEPTH));
    }
    let bytes: usize = input
        .iter()
        .map(|(key, value)| key.len() + weight(value))
        .sum();
    match bytes <= MAX_VALUE_BYTES {
        true => Ok(()),
        false => {
            let message =
                "an instance is given at most 1 MiB: keep the rest elsewhere, and say where";
            Err(Error::new(ErrorKind::Invalid, message).with("bytes", bytes))
        }
    }
}
