//! Waiting for something that happens, and having it happen.

use super::{Draft, activity};
use crate::{
    activities::{EVENT, TASK},
    definition::Input,
    endpoint::HTTP,
};

/// Waits for an event, or starts instances when it happens.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let answer = event("approval", "OrderApproved").into("decision");
/// let order = event("ordered", "OrderPlaced").into("order").starts();
/// ```
pub fn event(id: impl Into<String>, name: impl Into<Input>) -> Draft {
    activity(EVENT, id).with("name", name)
}

/// Makes an event, with `payload`, for those with a `correlation`, or `local` for this instance.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let paid = publish_event("paid", "OrderPaid")
///     .with("payload", json!({ "order": expr("input.order") }))
///     .with("correlation", expr("input.order"));
/// ```
pub fn publish_event(id: impl Into<String>, name: impl Into<Input>) -> Draft {
    activity("PublishEvent", id).with("name", name)
}

/// Asks somebody outside to do something with a `payload`, and waits until they say it is done.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let pack = run_task("pack", "Pack the parcel").with("payload", expr("input.lines"));
/// ```
pub fn run_task(id: impl Into<String>, name: impl Into<Input>) -> Draft {
    activity(TASK, id).with("name", name)
}

/// Waits for a request on a route, or starts instances when one comes. May be given a `correlation`, `headers`, `wait` and
/// `public`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let order = http_endpoint("order", "POST", "/orders").with("wait", true).into("request").starts();
/// let approval = http_endpoint("approval", "PUT", "/orders/{id}/approval").with("correlation", "id");
/// ```
pub fn http_endpoint(
    id: impl Into<String>,
    method: impl Into<String>,
    path: impl Into<String>,
) -> Draft {
    activity(HTTP, id)
        .with("method", method.into())
        .with("path", path.into())
}

/// Answers the request by which the instance was reached, with a `status`, `headers` and a `body`.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let created = http_response("created").with("status", 201).with("body", json!({ "id": expr("instance.id") }));
/// ```
pub fn http_response(id: impl Into<String>) -> Draft {
    activity("HttpResponse", id)
}

/// Waits so long.
///
/// ```
/// use lockwork_flow::{Length, build::*};
/// use std::time::Duration;
///
/// let as_text = delay("patience", "1h30m");
/// let as_duration = delay("patience", Length::from(Duration::from_secs(5400)));
/// let as_input = delay("patience", expr("input.patience"));
/// ```
pub fn delay(id: impl Into<String>, length: impl Into<Input>) -> Draft {
    activity("Delay", id).with("for", length)
}

/// Waits so long, or starts instances again and again.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let tick = timer("tick", "10m").starts();
/// ```
pub fn timer(id: impl Into<String>, every: impl Into<Input>) -> Draft {
    activity("Timer", id).with("every", every)
}

/// Waits until a moment, or starts an instance then.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let opening = start_at("opening", "2027-01-31T09:00:00Z").starts();
/// ```
pub fn start_at(id: impl Into<String>, at: impl Into<Input>) -> Draft {
    activity("StartAt", id).with("at", at)
}

/// Waits until a clock shows something, or starts an instance whenever it does. The clock is that of a `zone`, or
/// UTC.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let nightly = cron("nightly", "0 3 * * *").with("zone", "Europe/Berlin").starts();
/// ```
pub fn cron(id: impl Into<String>, at: impl Into<Input>) -> Draft {
    activity("Cron", id).with("at", at)
}
