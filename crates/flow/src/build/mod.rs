//! Writing definitions in Rust. They are the same values that JSON gives, with the same checks.
//!
//! There is a function for each activity; what it needs are its arguments, and whatever else it is given is said
//! with [`Draft::with`]. Ids are texts here and checked once, by [`Workflow::build`]. What a definition says about an
//! activity is checked when a [`Graph`](crate::Graph) is made of it, wherever the definition came from.
//!
//! ```
//! use lockwork_flow::{Definition, Parameter, build::*};
//! use serde_json::json;
//!
//! let definition = workflow("order-approval")
//!     .input(Parameter::new("order").required())
//!     .output("result")
//!     .variable("decision", json!({ "approved": false }))
//!     .root(sequence(
//!         "main",
//!         [
//!             race("answer", [event("approval", "OrderApproved").into("decision"), delay("patience", "3d")]),
//!             if_("approved", expr("decision.approved"))
//!                 .then(call("charge", "charge").with("args", json!({ "order": expr("input.order") })))
//!                 .otherwise(log("no", text("{{ input.order }} was not approved"))),
//!         ],
//!     ))
//!     .build()?;
//! assert_eq!(definition, Definition::from_json(&definition.to_json())?);
//! # Ok::<(), lockwork_flow::Error>(())
//! ```

mod chart;
mod data;
mod draft;
mod order;
mod others;
mod waits;
mod workflow;

pub use chart::flowchart;
pub use data::{call, correlate, log, set_name, set_output, set_variable};
pub use draft::{Draft, activity};
pub use order::{
    break_, choose, decide, fault, finish, for_each, fork, if_, parallel, parallel_for_each, race,
    sequence, switch, try_, while_,
};
pub use others::{bulk_dispatch, dispatch, execute_workflow, http, job, shell};
pub use waits::{
    cron, delay, event, http_endpoint, http_response, publish_event, run_task, start_at, timer,
};
pub use workflow::{Workflow, workflow};

use crate::definition::Input;

/// What `expression` gives when the activity is executed. May also stand inside of a value.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let whole = set_variable("add", "total", expr("total + input.price"));
/// let inside = call("charge", "charge").with("args", json!({ "amount": expr("total"), "currency": "EUR" }));
/// ```
#[must_use]
pub fn expr(expression: impl Into<String>) -> Input {
    Input::expression(expression)
}

/// This text, with `{{ expressions }}` in it. May also stand inside of a value.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let hello = log("hello", text("Hello {{ input.who }}"));
/// ```
#[must_use]
pub fn text(text: impl Into<String>) -> Input {
    Input::text(text)
}
