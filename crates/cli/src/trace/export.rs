//! Spans for a collector, by OTLP over HTTP. Where it is and what it is told stands in the environment, by the names that
//! OpenTelemetry gave: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, and the others.

use crate::{
    reach::{is_here, tls},
    show,
};
use opentelemetry::{Key, trace::TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use reqwest::{Url, blocking::Client};
use std::{error::Error, time::Duration};
use tracing::{Level, Subscriber};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::{
    Layer,
    filter::{Filtered, Targets},
    registry::LookupSpan,
};

/// Whoever names a collector by one of these wants spans.
const PLACES: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// How long a collector that does not answer may hold up the end of this process.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked of whoever follows spans.
type Spans<S> = Filtered<OpenTelemetryLayer<S, SdkTracer>, Targets, S>;

/// Spans under way to a collector.
#[derive(Debug)]
pub(super) struct Export(SdkTracerProvider);

impl Drop for Export {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(PATIENCE) {
            show::say(format_args!(
                "the last spans did not reach the collector: {error}"
            ));
        }
    }
}

/// What follows spans, if the environment names a collector.
pub(super) fn from_environment<S>() -> (Option<Spans<S>>, Option<Export>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let named = |name| std::env::var(name).ok().filter(|place| !place.is_empty());
    let Some(place) = PLACES.into_iter().find_map(named) else {
        return (None, None);
    };
    match export(&place) {
        Ok(provider) => {
            // Our own spans, and not those of what we depend on: sending some would make more.
            let ours = Targets::new().with_target("lockwork", Level::DEBUG);
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("lockwork"));
            (Some(layer.with_filter(ours)), Some(Export(provider)))
        }
        Err(error) => {
            show::say(format_args!(
                "no spans are sent: {error} (look at the variables that begin with OTEL_EXPORTER_OTLP)"
            ));
            (None, None)
        }
    }
}

fn export(place: &str) -> Result<SdkTracerProvider, Box<dyn Error>> {
    let url: Url = place.parse()?;
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls(&url)?)
        .timeout(PATIENCE);
    if is_here(&url) {
        client = client.no_proxy();
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client.build()?)
        .build()?;
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource())
        .build())
}

/// What the environment says of this process. If it does not say its name, we do.
fn resource() -> Resource {
    let resource = Resource::builder().build();
    let name = resource.get_ref(&Key::new("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    match is_named {
        true => resource,
        false => Resource::builder().with_service_name("lockwork").build(),
    }
}
