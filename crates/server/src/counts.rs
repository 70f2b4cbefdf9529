//! What is counted, for `/metrics`.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// What is counted since this node began.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// By operation and status.
    requests: Mutex<BTreeMap<(&'static str, u16), Taken>>,
    pub(crate) connections: AtomicUsize,
    pub(crate) listeners: AtomicUsize,
    pub(crate) commits: AtomicU64,
    pub(crate) created: AtomicU64,
    pub(crate) buried: AtomicU64,
}

#[derive(Debug, Default)]
struct Taken {
    count: u64,
    time: Duration,
}

impl Counts {
    pub(crate) fn request(&self, operation: &'static str, status: u16, time: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = requests.entry((operation, status)).or_default();
        taken.count += 1;
        taken.time += time;
    }

    /// In the words of Prometheus.
    pub(crate) fn write(&self, to: &mut String) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        head(
            to,
            "lockwork_http_requests_total",
            "counter",
            "Requests that were answered.",
        );
        for ((operation, status), taken) in &*requests {
            let labels = format!("operation=\"{operation}\",status=\"{status}\"");
            let _ = writeln!(
                to,
                "lockwork_http_requests_total{{{labels}}} {}",
                taken.count
            );
        }
        let name = "lockwork_http_request_seconds_total";
        head(to, name, "counter", "How long they took, all together.");
        for ((operation, status), taken) in &*requests {
            let labels = format!("operation=\"{operation}\",status=\"{status}\"");
            let _ = writeln!(to, "{name}{{{labels}}} {}", taken.time.as_secs_f64());
        }
        drop(requests);
        let gauges = [
            (
                "lockwork_http_connections",
                "Connections that are open.",
                &self.connections,
            ),
            (
                "lockwork_http_listeners",
                "Those who listen to what happens.",
                &self.listeners,
            ),
        ];
        for (name, help, gauge) in gauges {
            head(to, name, "gauge", help);
            let _ = writeln!(to, "{name} {}", gauge.load(Relaxed));
        }
        let counters = [
            (
                "lockwork_instances_created_total",
                "Instances created by this node.",
                &self.created,
            ),
            (
                "lockwork_commits_total",
                "Commits of this node.",
                &self.commits,
            ),
            (
                "lockwork_buried_total",
                "Errands that this node made dead letters.",
                &self.buried,
            ),
        ];
        for (name, help, counter) in counters {
            head(to, name, "counter", help);
            let _ = writeln!(to, "{name} {}", counter.load(Relaxed));
        }
    }
}

/// What comes before the numbers of one name.
pub(crate) fn head(to: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(to, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// A text between quotation marks.
pub(crate) fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_what_was_asked_and_how_it_ended() {
        let counts = Counts::default();
        counts.request("listNodes", 200, Duration::from_millis(500));
        counts.request("listNodes", 200, Duration::from_millis(250));
        let mut text = String::new();
        counts.write(&mut text);
        let line = "lockwork_http_requests_total{operation=\"listNodes\",status=\"200\"} 2";
        assert!(text.lines().any(|one| one == line), "{text}");
        assert!(text.contains("} 0.75"), "{text}");
    }

    #[test]
    fn a_label_ends_where_it_ends() {
        assert_eq!(label("a\"b\\c\n"), "a\\\"b\\\\c\\n");
    }
}
