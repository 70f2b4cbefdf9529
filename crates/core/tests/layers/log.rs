//! A log that tests can read: one for all tests of the file, sorted by the lock an event is about.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Mutex, Once,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// One event, or the beginning of a span.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) fields: BTreeMap<&'static str, String>,
}

impl Line {
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

/// Listens from now on, once for all.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Log::default()).unwrap());
}

/// What was said about the lock called `lock`.
pub(crate) fn about(lock: &str) -> Vec<Line> {
    let lines = LINES.lock().unwrap();
    let about = lines.iter().filter(|line| line.field("lock") == lock);
    about.cloned().collect()
}

/// What was said about it with this message.
pub(crate) fn said(lock: &str, message: &str) -> Vec<Line> {
    let mut lines = about(lock);
    lines.retain(|line| line.field("message") == message);
    lines
}

#[derive(Default)]
struct Log(AtomicU64);

impl Log {
    fn note(metadata: &Metadata<'_>, record: impl FnOnce(&mut dyn Visit)) {
        let mut fields = Fields(BTreeMap::new());
        record(&mut fields);
        LINES.lock().unwrap().push(Line {
            level: *metadata.level(),
            fields: fields.0,
        });
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("lockwork")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        Self::note(span.metadata(), |fields| span.record(fields));
        Id::from_u64(self.0.fetch_add(1, Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        Self::note(event.metadata(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
