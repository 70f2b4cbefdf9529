//! What instances remember, give and say, and what the program does for them.

use super::{Draft, activity};
use crate::definition::Input;

/// A variable becomes `value`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let add = set_variable("add", "total", expr("total + input.price"));
/// ```
pub fn set_variable(
    id: impl Into<String>,
    name: impl Into<String>,
    value: impl Into<Input>,
) -> Draft {
    set("SetVariable", id, name, value)
}

/// An output of the instance becomes `value`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let result = set_output("result", "total", expr("total"));
/// ```
pub fn set_output(
    id: impl Into<String>,
    name: impl Into<String>,
    value: impl Into<Input>,
) -> Draft {
    set("SetOutput", id, name, value)
}

fn set(
    kind: &str,
    id: impl Into<String>,
    name: impl Into<String>,
    value: impl Into<Input>,
) -> Draft {
    activity(kind, id)
        .with("name", name.into())
        .with("value", value)
}

/// By what stimuli find the instance together with others.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let order = correlate("order", expr("input.order"));
/// ```
pub fn correlate(id: impl Into<String>, correlation: impl Into<Input>) -> Draft {
    activity("Correlate", id).with("id", correlation)
}

/// What people call the instance.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let named = set_name("named", text("Order {{ input.order }}"));
/// ```
pub fn set_name(id: impl Into<String>, name: impl Into<Input>) -> Draft {
    activity("SetName", id).with("name", name)
}

/// A line in the journal.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let hello = log("hello", text("Hello {{ input.who }}"));
/// ```
pub fn log(id: impl Into<String>, text: impl Into<Input>) -> Draft {
    activity("Log", id).with("text", text)
}

/// A function that the program has [registered](crate::Registry::code) under `name`. It is given `args`.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let charge = call("charge", "charge").with("args", json!({ "order": expr("input.order") })).into("receipt");
/// ```
pub fn call(id: impl Into<String>, name: impl Into<String>) -> Draft {
    activity("Call", id).with("name", name.into())
}
