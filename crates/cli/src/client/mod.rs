//! Asking a node, by HTTP.

mod ask;
mod definitions;
mod instances;
mod journal;
mod queue;
mod run;
mod runs;
mod signal;
mod start;
mod waits;

pub(crate) use ask::Node;
pub(crate) use definitions::{add, run as definitions};
pub(crate) use instances::run as instances;
pub(crate) use queue::{nodes, run as queue, timers};
pub(crate) use run::run;
pub(crate) use signal::run as signal;
pub(crate) use start::{begin, run as start};

use crate::{show, time};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// What a field of an answer says, for people: a dash, if it says nothing.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => show::harmless(text),
        other => show::harmless(&other.to_string()),
    }
}

/// The items of a list in an answer.
pub(crate) fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().map_or(&[], Vec::as_slice)
}

/// How long ago, or how long until, a moment is that an answer names.
fn moment(value: &Value) -> String {
    let Some(ms) = value.as_i64() else {
        return "-".to_owned();
    };
    let away = ms - now();
    let length = time::rough(Duration::from_millis(away.unsigned_abs()));
    match away > 0 {
        true => format!("in {length}"),
        false => format!("{length} ago"),
    }
}

/// Milliseconds since the beginning of 1970, by this machine's clock.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// What failed, where and why.
fn incident(incident: &Value) -> String {
    let failure = &incident["failure"];
    let (code, message) = (cell(&failure["code"]), cell(&failure["message"]));
    format!("{}: {code}: {message}", cell(&incident["node"]))
}

/// An answer for programs, or else for people.
fn answer(json: bool, answer: &Value, print: impl FnOnce(&Value)) -> u8 {
    match json {
        true => show::print(answer),
        false => print(answer),
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_is_past_or_to_come() {
        assert_eq!(moment(&json!(now() - 60_500)), "1m 0s ago");
        assert_eq!(moment(&json!(now() + 7_260_500)), "in 2h 1m");
        assert_eq!(moment(&Value::Null), "-");
    }
}
