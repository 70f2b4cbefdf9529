//! Asks servers by HTTP, for `HttpRequest`.

use super::JobCall;
use lockwork_core::workflow::{Failure, Value, Values};
use lockwork_flow::Length;
use reqwest::{Client, Method, RequestBuilder, Response};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The largest answer, in bytes: it goes into a variable.
const MOST: usize = 512 * 1024;

/// How long to wait for an answer, if nothing is said.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
struct Request {
    url: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    timeout: Option<Length>,
}

/// Asks, and gives status, headers and body. An answer that says no is an answer; that there is none may pass.
pub(super) async fn request(call: JobCall) -> Result<Value, Failure> {
    let wrong = |message: String| Failure::new("http.request", message);
    let request: Request =
        serde_json::from_value(call.with).map_err(|error| wrong(error.to_string()))?;
    let method = request.method.as_deref().unwrap_or("GET").to_uppercase();
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let timeout = request.timeout.map_or(PATIENCE, Length::as_duration);
    let mut asking = client()?.request(method, &request.url).timeout(timeout);
    // By this a server can tell that it was asked before.
    asking = asking.header("idempotency-key", call.key);
    asking = request
        .headers
        .iter()
        .fold(asking, |asking, (name, value)| asking.header(name, value));
    let answer = with_body(asking, request.body)
        .send()
        .await
        .map_err(|error| unanswered(&error))?;
    read(answer).await
}

fn with_body(asking: RequestBuilder, body: Value) -> RequestBuilder {
    match body {
        Value::Null => asking,
        Value::String(text) => asking.body(text),
        other => asking
            .header("content-type", "application/json")
            .body(other.to_string()),
    }
}

async fn read(mut answer: Response) -> Result<Value, Failure> {
    let status = answer.status().as_u16();
    let headers = answer.headers().iter();
    let headers = headers
        .filter_map(|(name, value)| Some((name.to_string(), Value::from(value.to_str().ok()?))));
    let headers: Values = headers.collect();
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| unanswered(&error))? {
        body.extend_from_slice(&part);
        if body.len() > MOST {
            let message = format!("the answer has more than {MOST} bytes: have it kept elsewhere");
            return Err(Failure::new("http.large", message));
        }
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(json!({ "status": status, "headers": headers, "body": body }))
}

/// Without the address: it may have a key in it.
fn unanswered(error: &reqwest::Error) -> Failure {
    let code = if error.is_timeout() {
        "http.timeout"
    } else {
        "http.failed"
    };
    let message = if error.is_timeout() {
        "the server did not answer in time"
    } else if error.is_connect() {
        "the server cannot be reached"
    } else if error.is_builder() {
        "this is no address, or one that is not http or https"
    } else {
        "the answer broke off, or was none"
    };
    Failure::new(code, message).may_pass()
}

fn client() -> Result<&'static Client, Failure> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| build().map_err(|error| error.to_string()));
    client
        .as_ref()
        .map_err(|error| Failure::new("http.client", error.clone()))
}

fn build() -> Result<Client, Box<dyn std::error::Error>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(Client::builder()
        .tls_backend_preconfigured(config)
        .build()?)
}
