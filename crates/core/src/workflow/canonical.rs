//! One way to write JSON, so that equal values give equal hashes.

use super::Value;
use std::fmt::Write;

/// Appends `value`. What is `null` inside of an object is left out, unless the object is the whole.
pub(crate) fn write(to: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            object(to, fields.iter().map(|(key, value)| (key.as_str(), value)))
        }
        other => inner(to, other),
    }
}

fn inner(to: &mut String, value: &Value) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(yes) => to.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(to, "{number}");
        }
        Value::String(text) => string(to, text),
        Value::Array(items) => {
            to.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                inner(to, item);
            }
            to.push(']');
        }
        Value::Object(fields) => {
            let there = fields.iter().filter(|(_, value)| !value.is_null());
            object(to, there.map(|(key, value)| (key.as_str(), value)));
        }
    }
}

/// Sorted here: whether a map of `serde_json` is sorted depends on what else is in the build.
fn object<'a>(to: &mut String, fields: impl Iterator<Item = (&'a str, &'a Value)>) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(key, _)| *key);
    to.push('{');
    for (index, (key, value)) in fields.into_iter().enumerate() {
        if index > 0 {
            to.push(',');
        }
        string(to, key);
        to.push(':');
        inner(to, value);
    }
    to.push('}');
}

/// As `System.Text.Json` does by default:
/// <https://learn.microsoft.com/dotnet/standard/serialization/system-text-json/character-encoding>.
fn string(to: &mut String, text: &str) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '\\' => to.push_str("\\\\"),
            '\u{8}' => to.push_str("\\b"),
            '\t' => to.push_str("\\t"),
            '\n' => to.push_str("\\n"),
            '\u{c}' => to.push_str("\\f"),
            '\r' => to.push_str("\\r"),
            '"' | '&' | '\'' | '+' | '<' | '>' | '`' => escape(to, letter),
            ' '..='~' => to.push(letter),
            _ => escape(to, letter),
        }
    }
    to.push('"');
}

fn escape(to: &mut String, letter: char) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        let _ = write!(to, "\\u{unit:04X}");
    }
}
