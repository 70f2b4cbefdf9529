//! What went wrong, as a problem document: RFC 9457.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lockwork_core::{lock, workflow};
use serde::Serialize;
use std::borrow::Cow;

/// What went wrong, for the program that asked and for whoever reads its log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    /// A sentence, with what to do.
    detail: Cow<'static, str>,
    /// Whether the same request could succeed a little later.
    transient: bool,
    /// How many seconds later.
    #[serde(skip)]
    again: Option<u64>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            kind: format!("urn:lockwork:{kind}"),
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            transient: false,
            again: None,
        }
    }

    /// What was asked is wrong.
    pub(crate) fn invalid(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// There is nothing called so.
    pub(crate) fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// It may be over so many seconds later.
    pub(crate) const fn after(mut self, seconds: u64) -> Self {
        self.transient = true;
        self.again = Some(seconds);
        self
    }
}

impl From<workflow::Error> for Problem {
    fn from(error: workflow::Error) -> Self {
        use workflow::ErrorKind as Kind;
        let (status, kind) = match error.kind() {
            Kind::NotFound => (StatusCode::NOT_FOUND, "not-found"),
            Kind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Kind::Conflict => (StatusCode::CONFLICT, "conflict"),
            Kind::Busy => (StatusCode::CONFLICT, "busy"),
            Kind::Fenced => (StatusCode::CONFLICT, "fenced"),
            Kind::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            Kind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "unsupported"),
            Kind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            // The rights of this node, not of whoever asked.
            Kind::Denied => (StatusCode::INTERNAL_SERVER_ERROR, "denied"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "unexpected"),
        };
        of(status, kind, error.to_string(), error.is_transient())
    }
}

impl From<lock::Error> for Problem {
    fn from(error: lock::Error) -> Self {
        use lock::ErrorKind as Kind;
        let (status, kind) = match error.kind() {
            Kind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Kind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "unsupported"),
            Kind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Kind::Denied => (StatusCode::INTERNAL_SERVER_ERROR, "denied"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "unexpected"),
        };
        of(status, kind, error.to_string(), error.is_transient())
    }
}

fn of(status: StatusCode, kind: &'static str, detail: String, transient: bool) -> Problem {
    let mut problem = Problem::new(status, kind, detail);
    problem.transient = transient;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        problem.again = Some(1);
    }
    problem
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = self.again {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
