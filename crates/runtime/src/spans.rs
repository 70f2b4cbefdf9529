//! Spans of what a workflow does, for those who follow it across systems. They cost next to nothing if nobody does.
//!
//! Fields that begin with `otel.` are those by which `tracing-opentelemetry` knows what a span is called and how it ended.

use lockwork_core::workflow::{Error, InstanceId, NodeId, VersionId};
use lockwork_flow::{Around, Calling, Cx, Doing};
use tracing::{
    Instrument, Span, debug_span,
    field::{Empty, display},
};

const TARGET: &str = "lockwork::workflows";

/// Around a burst.
pub(crate) fn burst(instance: &InstanceId) -> Span {
    debug_span!(
        target: TARGET,
        "burst",
        %instance,
        version = Empty,
        epoch = Empty,
        otel.status_code = Empty,
        error = Empty,
    )
}

/// The burst of the span that this is in is about to run.
pub(crate) fn claimed(version: &VersionId, epoch: u64) {
    let span = Span::current();
    span.record("version", display(version));
    span.record("epoch", epoch);
}

/// The burst of the span that this is in has failed.
pub(crate) fn failed(error: &Error) {
    let span = Span::current();
    span.record("error", display(error));
    span.record("otel.status_code", "ERROR");
}

/// Around each call of an activity.
#[derive(Debug)]
pub(crate) struct Activities;

impl Around for Activities {
    fn around<'a>(&'a self, cx: &'a mut Cx<'_>, calling: Calling<'a>) -> Doing<'a> {
        let span = debug_span!(
            target: TARGET,
            "activity",
            otel.name = calling.kind(),
            method = calling.method(),
            node = cx.node().map(NodeId::as_str),
            execution = %cx.execution(),
            otel.status_code = Empty,
            failure = Empty,
        );
        if span.is_disabled() {
            return calling.call(cx);
        }
        let doing = span.in_scope(|| calling.call(cx));
        Box::pin(async move {
            let did = doing.instrument(span.clone()).await;
            if let Err(failure) = &did {
                // Its sentence may have a secret in it, its code has none.
                span.record("failure", &*failure.code);
                span.record("otel.status_code", "ERROR");
            }
            did
        })
    }
}
