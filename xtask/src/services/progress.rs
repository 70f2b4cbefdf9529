//! What the operator sees of a slow step while it runs: what it is, how long
//! it may take at most, and in the end how long it took.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::outcome::Outcome;

/// Runs a step between two halves of a line. The step keeps the limit itself.
pub(crate) fn step<T>(
    what: &str,
    limit: Duration,
    work: impl FnOnce() -> Outcome<T>,
) -> Outcome<T> {
    eprint!("{what} (at most {} s) … ", limit.as_secs());
    // A line that cannot be shown is no reason to stop.
    let _ = std::io::stderr().flush();
    let begun = Instant::now();
    let outcome = work();
    let end = if outcome.is_ok() { "" } else { "failed after " };
    eprintln!("{end}{:.1} s", begun.elapsed().as_secs_f64());
    outcome
}
