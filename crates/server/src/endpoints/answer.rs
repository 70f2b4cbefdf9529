//! What whoever asked a workflow is told.

use crate::problem::Problem;
use axum::{
    Json,
    body::Body,
    http::{HeaderName, HeaderValue, Response as Built, StatusCode, header},
    response::{IntoResponse, Response},
};
use lockwork_core::workflow::{Delivery, InstanceId, Ran, SubStatus, Value, Values};
use lockwork_flow::RESPONSE;
use lockwork_runtime::Reached;
use serde::Serialize;

/// What is under way.
#[derive(Debug, Serialize)]
struct Accepted {
    instances: Vec<InstanceId>,
}

/// It is written down, and done whatever becomes of this node.
pub(crate) fn accepted(instances: Vec<InstanceId>) -> Response {
    (StatusCode::ACCEPTED, Json(Accepted { instances })).into_response()
}

/// What those answer who were reached. Nothing, if somebody else was quicker everywhere.
pub(crate) fn of(reached: Reached, told: Vec<InstanceId>) -> Result<Option<Response>, Problem> {
    let all = reached.started.iter().chain(&reached.resumed);
    let all: Vec<&Ran> = all.filter(|ran| ran.delivery == Delivery::Done).collect();
    if all.is_empty() && reached.later == 0 {
        return Ok(None);
    }
    if let Some(said) = all.iter().find_map(|ran| said(ran)) {
        return Ok(Some(response(said)));
    }
    let faulted = |ran: &&Ran| ran.sub_status == SubStatus::Faulted;
    if reached.later == 0 && all.iter().all(faulted) {
        let detail = "the workflow failed before it answered: its instance says why";
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        return Err(Problem::new(status, "faulted", detail));
    }
    Ok(Some(accepted(told)))
}

fn said(ran: &Ran) -> Option<&Values> {
    ran.output.get(RESPONSE)?.as_object()
}

/// As the workflow says. What cannot be sent is left out: the activity has checked it, others may have changed it.
fn response(said: &Values) -> Response {
    let status = said.get("status").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let (kind, body) = match said.get("body") {
        None | Some(Value::Null) => (None, String::new()),
        Some(Value::String(text)) => (Some("text/plain; charset=utf-8"), text.clone()),
        Some(other) => (Some("application/json"), other.to_string()),
    };
    let mut response = Built::new(Body::from(body));
    *response.status_mut() = status.unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Some(kind) = kind {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    // What a workflow says is a text may have come from anybody: no browser shall find a page in it.
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let fields = said.get("headers").and_then(Value::as_object);
    for (name, value) in fields.into_iter().flatten() {
        let name = HeaderName::try_from(name);
        let value = value.as_str().map(HeaderValue::from_str);
        if let (Ok(name), Some(Ok(value))) = (name, value) {
            headers.insert(name, value);
        }
    }
    response
}
