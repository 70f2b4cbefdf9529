//! What a run of `bench` found, for people and for programs.

use super::samples::{Bucket, Samples};
use crate::{show, table};
use serde_json::{Value, json};
use std::time::Duration;

/// The longest bar of the picture.
const WIDTH: usize = 40;

/// What came of it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) backend: &'static str,
    pub(super) seconds: u64,
    pub(super) interrupted: bool,
    pub(super) uncontended: Samples,
    pub(super) handoff: Samples,
    pub(super) tasks: u32,
    pub(super) count: u64,
    pub(super) took: Duration,
}

impl Outcome {
    pub(super) fn print(&self) {
        if self.interrupted {
            show::say("stopped early: this is what there is so far");
        }
        let rows = [
            row("lock and release", &self.uncontended),
            row("from release to grant", &self.handoff),
        ];
        table::print(["", "TIMES", "P50", "P99", "MAX"], &rows);
        if let Some(rate) = self.per_second().map(two_digits) {
            show::print(format_args!(
                "\n{rate} a second by {} tasks, each with a lock of its own",
                self.tasks,
            ));
        }
        for (title, samples) in [
            ("lock and release", &self.uncontended),
            ("from release to grant", &self.handoff),
        ] {
            if samples.count() > 0 {
                show::print(format_args!("\n{}", show::bold(title)));
                for line in picture(&samples.buckets()) {
                    show::print(line);
                }
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "backend": self.backend,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "uncontended": samples(&self.uncontended),
            "throughput": {
                "tasks": self.tasks,
                "count": self.count,
                "per_second": self.per_second(),
            },
            "handoff": samples(&self.handoff),
        })
    }

    /// `None` if that was not measured.
    fn per_second(&self) -> Option<u64> {
        let rate = u128::from(self.count) * 1000;
        u64::try_from(rate.checked_div(self.took.as_millis())?).ok()
    }
}

fn row(what: &str, samples: &Samples) -> [String; 5] {
    let shown = |took: Option<Duration>| took.map_or_else(|| "-".to_owned(), short);
    [
        what.to_owned(),
        samples.count().to_string(),
        shown(samples.p50()),
        shown(samples.p99()),
        shown(samples.max()),
    ]
}

fn samples(samples: &Samples) -> Value {
    let nanos = |took: Duration| u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    let buckets = samples.buckets();
    let bucket =
        |bucket: &Bucket| json!({ "up_to_ns": nanos(bucket.up_to), "count": bucket.count });
    json!({
        "count": samples.count(),
        "p50_ns": samples.p50().map(nanos),
        "p99_ns": samples.p99().map(nanos),
        "max_ns": samples.max().map(nanos),
        "histogram": buckets.iter().map(bucket).collect::<Vec<_>>(),
    })
}

fn picture(buckets: &[Bucket]) -> Vec<String> {
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let line = |bucket: &Bucket| {
        // Who is there is seen, however few.
        let bar = "#".repeat((bucket.count * WIDTH).div_ceil(most.max(1)));
        let up_to = short(bucket.up_to);
        let line = format!("  up to {up_to:>6}  {bar:WIDTH$}  {}", bucket.count);
        line.trim_end().to_owned()
    };
    buckets.iter().map(line).collect()
}

/// Two digits are what the next run will find too; more are chance.
fn short(took: Duration) -> String {
    let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    let nanos = two_digits(nanos);
    let (unit, name) = match nanos {
        0..1_000 => return format!("{nanos}ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let (whole, tenth) = (nanos / unit, nanos % unit * 10 / unit);
    match tenth {
        0 => format!("{whole}{name}"),
        _ => format!("{whole}.{tenth}{name}"),
    }
}

fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    // To the nearest.
    number.saturating_add(unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_two_digits() {
        let shown = |nanos| short(Duration::from_nanos(nanos));
        assert_eq!(shown(0), "0ns");
        assert_eq!(shown(312), "310ns");
        assert_eq!(shown(1_249), "1.2us");
        assert_eq!(shown(99_600), "100us");
        assert_eq!(shown(123_456), "120us");
        assert_eq!(shown(20_000_000), "20ms");
        assert_eq!(shown(1_560_000_000), "1.6s");
    }

    #[test]
    fn the_longest_bar_fits_and_the_shortest_is_seen() {
        let bucket = |micros, count| Bucket {
            up_to: Duration::from_micros(micros),
            count,
        };
        let lines = picture(&[bucket(10, 1000), bucket(20, 0), bucket(50, 1)]);
        let bars = |line: &String| line.matches('#').count();
        assert_eq!(lines.iter().map(bars).collect::<Vec<_>>(), [40, 0, 1]);
        assert!(lines[0].starts_with("  up to   10us  ####"), "{}", lines[0]);
        assert!(lines[2].ends_with("  1"), "{}", lines[2]);
    }

    #[test]
    fn nothing_measured_is_nothing_and_no_zero() {
        let nothing = Outcome {
            backend: "memory",
            seconds: 1,
            interrupted: true,
            uncontended: Samples::default(),
            handoff: Samples::default(),
            tasks: 4,
            count: 0,
            took: Duration::ZERO,
        };
        let json = nothing.json();
        assert_eq!(json["uncontended"]["p50_ns"], Value::Null);
        assert_eq!(json["throughput"]["per_second"], Value::Null);
    }
}
