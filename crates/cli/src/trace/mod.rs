//! What the library has to say besides: warnings on standard error, more of it with `-v`; and, if this was built with
//! `opentelemetry`, spans for a collector.

#[cfg(feature = "opentelemetry")]
mod export;

use std::fmt;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    Layer,
    filter::LevelFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::SubscriberExt,
    registry::LookupSpan,
    util::SubscriberInitExt,
};

/// Sends what is left when it is dropped.
#[must_use]
#[cfg(feature = "opentelemetry")]
pub(crate) struct Tracing(
    #[expect(dead_code, reason = "dropped at the end")] Option<export::Export>,
);

/// Nothing is left at the end.
#[must_use]
#[cfg(not(feature = "opentelemetry"))]
pub(crate) struct Tracing;

/// From here on. A process that has a subscriber already keeps it.
pub(crate) fn start(verbose: u8) -> Tracing {
    let level = match verbose {
        0 => Level::WARN,
        1 => Level::INFO,
        2 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let sentences = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .event_format(Sentence)
        .with_filter(LevelFilter::from_level(level));
    let all = tracing_subscriber::registry().with(sentences);
    #[cfg(feature = "opentelemetry")]
    {
        let (spans, export) = export::from_environment();
        let _ = all.with(spans).try_init();
        Tracing(export)
    }
    #[cfg(not(feature = "opentelemetry"))]
    {
        let _ = all.try_init();
        Tracing
    }
}

/// One line that begins like all of ours.
struct Sentence;

impl<S, N> FormatEvent<S, N> for Sentence
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        write!(writer, "lockwork: {level}: ")?;
        context
            .field_format()
            .format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
