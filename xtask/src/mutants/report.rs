//! What the operator sees of a run: one line for each breakage, and the totals
//! last. With `--json` the lines for people move to standard error, so that
//! standard output is one JSON object a line and nothing else.

use std::time::Duration;

use crate::paint::{self, Paint};

use super::patch::Patch;
use super::verdict::Verdict;

/// Where the lines go.
pub(crate) struct Report {
    json: bool,
}

impl Report {
    /// A report for people, or for programs.
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// One line for people.
    pub(crate) fn say(&self, line: &str) {
        if self.json {
            eprintln!("{line}");
        } else {
            println!("{line}");
        }
    }

    /// The line of one breakage.
    pub(crate) fn one(
        &self,
        n: usize,
        of: usize,
        patch: &Patch,
        verdict: &Verdict,
        took: Duration,
    ) {
        if self.json {
            println!("{}", json(patch, verdict, took));
        }
        let seconds = took.as_secs_f64();
        let painted = self.painted(verdict);
        self.say(&format!(
            "{n}/{of}  {}  {painted}  {seconds:.1} s",
            patch.name
        ));
        if !verdict.passed() {
            self.say(&format!("      what: {}", patch.what));
            self.say(&format!("      red:  cargo test {}", patch.red.join(" ")));
        }
        if let Some(log) = verdict.log() {
            self.say(&format!("      see {}", log.display()));
        }
    }

    /// The totals, always the last line.
    pub(crate) fn close(&self, passed: usize, failed: usize) {
        if failed > 0 {
            self.say("Sharpen the test of each that is not red, or mend its patch.");
        }
        self.say(&format!("{passed} passed, {failed} failed"));
    }

    /// Red is what a breakage should be, so it is painted as what went well.
    fn painted(&self, verdict: &Verdict) -> String {
        let paint = self.paint();
        if verdict.passed() {
            paint.green(&verdict.to_string())
        } else {
            paint.red(&verdict.to_string())
        }
    }

    fn paint(&self) -> Paint {
        if self.json {
            paint::stderr()
        } else {
            paint::stdout()
        }
    }
}

fn json(patch: &Patch, verdict: &Verdict, took: Duration) -> serde_json::Value {
    serde_json::json!({
        "name": patch.name,
        "what": patch.what,
        "red": patch.red,
        "verdict": verdict.to_string(),
        "passed": verdict.passed(),
        "seconds": took.as_secs_f64(),
    })
}
