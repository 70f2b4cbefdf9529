//! A span around each request, by which others can follow what became of it.
//!
//! Names and fields are those that OpenTelemetry asks of an HTTP server: its semantic conventions for HTTP spans.

use crate::routes::Operation;
use axum::{extract::Request, http::HeaderMap};
use tracing::{Span, debug_span, field::Empty};

/// For a request. Costs nothing if nobody listens.
pub(crate) fn span(operation: &Operation, request: &Request) -> Span {
    let method = request.method().as_str();
    let span = debug_span!(
        target: "lockwork::server",
        "request",
        otel.name = %format_args!("{method} {}", operation.path),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = operation.path,
        http.response.status_code = Empty,
    );
    if !span.is_disabled() {
        goes_on(&span, request.headers());
    }
    span
}

/// A refusal is the doing of whoever asked; only what went wrong here is an error of this span.
pub(crate) fn answered(span: &Span, status: u16) {
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

/// With the trace in which somebody asks, if they say so by `traceparent`.
#[cfg(feature = "opentelemetry")]
fn goes_on(span: &Span, headers: &HeaderMap) {
    use opentelemetry::{propagation::TextMapPropagator, trace::TraceContextExt};
    use opentelemetry_http::HeaderExtractor;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    let theirs = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if theirs.span().span_context().is_valid() {
        // It fails if nobody makes OpenTelemetry's spans of ours: then there is none that could go on.
        let _ = span.set_parent(theirs);
    }
}

#[cfg(not(feature = "opentelemetry"))]
const fn goes_on(_: &Span, _: &HeaderMap) {}
