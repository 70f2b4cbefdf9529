//! Requests that others make of a workflow, and what it answers.

use crate::{
    activity::{Activity, Descriptor, Doing, Given, Step, Trigger, Wrong, ready},
    burst::{Cx, Waiting},
    definition::Node,
    endpoint::{Endpoint, HTTP, RESPONSE, is_header},
};
use lockwork_core::workflow::{Failure, Value, Values};
use serde_json::json;

/// Where an endpoint goes on when it is asked.
const ASKED: &str = "asked";

/// Headers that say how an answer is sent, and not what it is.
const FRAMING: [&str; 5] = [
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "trailer",
];

/// Waits for a request.
#[derive(Debug)]
pub(super) struct HttpEndpoint;

const ENDPOINT: [Given; 6] = [
    Given::new("method", "GET, POST, PUT, PATCH or DELETE")
        .required()
        .fixed()
        .shown(),
    Given::new(
        "path",
        "below the place that the node has for workflows: `/orders/{id}`",
    )
    .required()
    .fixed()
    .shown(),
    Given::new(
        "correlation",
        "the parameter of the path that is the correlation of the instances it is for",
    )
    .fixed()
    .shown(),
    Given::new("headers", "names of headers to keep")
        .fixed()
        .shown(),
    Given::new(
        "wait",
        "`true`: whoever asks gets what `HttpResponse` says until the instance waits or is over",
    )
    .fixed()
    .shown(),
    Given::new("public", "`true`: everybody may ask, without a key")
        .fixed()
        .shown(),
];

impl Activity for HttpEndpoint {
    fn describe(&self) -> Descriptor {
        let about =
            "Waits for an HTTP request on a route of its own, or starts instances when one comes.";
        Descriptor::new(HTTP, about)
            .given(&ENDPOINT)
            .gives("`parameters`, `query`, `headers` and `body`")
            .can_start()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        Endpoint::of(node).map(drop)
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        Ok(Some(Trigger {
            name: HTTP.to_owned(),
            payload: Endpoint::of(node)?.payload(true),
            schedule: None,
        }))
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        if let Some(input) = cx.triggered() {
            return ready(asked(cx, input));
        }
        ready(wait(cx))
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        ready(asked(cx, input))
    }
}

/// What the definition says of this route.
fn endpoint(cx: &Cx<'_>) -> Result<Endpoint, Failure> {
    let endpoint = Endpoint::read(|name| cx.plain(name).cloned());
    endpoint.map_err(|wrong| Failure::new("endpoint", wrong.message))
}

fn wait(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let payload = endpoint(cx)?.payload(false);
    cx.wait(Waiting::on(HTTP, payload).at(ASKED))?;
    Ok(Step::Wait)
}

/// What a request brought, under the names that this activity has for it.
fn asked(cx: &mut Cx<'_>, mut input: Values) -> Result<Step, Failure> {
    let endpoint = endpoint(cx)?;
    let mut part = |name: &str| input.remove(name).unwrap_or_default();
    let values = match part("parameters") {
        Value::Array(values) => values,
        _ => Vec::new(),
    };
    let names = endpoint.route.parameters().map(str::to_owned);
    let parameters: Values = names.zip(values).collect();
    let headers = match part("headers") {
        Value::Object(headers) => headers,
        _ => Values::new(),
    };
    // Another one with this route may want to see more.
    let headers = headers.into_iter();
    let headers: Values = headers
        .filter(|(name, _)| endpoint.headers.contains(name))
        .collect();
    let (query, body) = (part("query"), part("body"));
    // What was answered before was for somebody else.
    cx.withdraw_output(RESPONSE);
    cx.give(json!({ "parameters": parameters, "query": query, "headers": headers, "body": body }));
    Ok(Step::done())
}

/// Answers a request.
#[derive(Debug)]
pub(super) struct HttpResponse;

const ANSWER: [Given; 3] = [
    Given::new("status", "200, if nothing is said").shown(),
    Given::new("headers", "an object of texts").shown(),
    Given::new("body", "a text as it is, anything else as JSON").shown(),
];

impl Activity for HttpResponse {
    fn describe(&self) -> Descriptor {
        let about = "Answers the request by which the instance was reached, if its `HttpEndpoint` says `wait`. What was \
                     answered last counts, and is the output `response`.";
        Descriptor::new("HttpResponse", about).given(&ANSWER)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(answer(cx))
    }
}

fn answer(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let status = match cx.value("status")? {
        None | Some(Value::Null) => 200,
        Some(status) => status_of(&status)?,
    };
    let headers = headers(cx.value("headers")?)?;
    let body = cx.value("body")?;
    let answer = json!({ "status": status, "headers": headers, "body": body });
    cx.set_output(RESPONSE, answer)?;
    Ok(Step::done())
}

fn status_of(status: &Value) -> Result<u64, Failure> {
    let number = status
        .as_u64()
        .filter(|number| (200..=599).contains(number));
    number.ok_or_else(|| {
        let message = "`status` has to be a whole number from 200 to 599";
        Failure::new("input.type", message)
    })
}

fn headers(value: Option<Value>) -> Result<Values, Failure> {
    let fields = match value {
        None | Some(Value::Null) => Values::new(),
        Some(Value::Object(fields)) => fields,
        Some(_) => {
            let message = "`headers` has to be an object of texts";
            return Err(Failure::new("input.type", message));
        }
    };
    let fits = |(name, value): (&String, &Value)| {
        let framing = FRAMING.iter().any(|one| name.eq_ignore_ascii_case(one));
        let visible = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        is_header(name) && !framing && value.as_str().is_some_and(visible)
    };
    match fields.iter().find(|field| !fits(*field)) {
        None => Ok(fields),
        Some((name, _)) => {
            let message = format!(
                "`{name}` cannot be a header of an answer: those are visible ASCII, and say nothing of how it is sent"
            );
            Err(Failure::new("input.type", message))
        }
    }
}
