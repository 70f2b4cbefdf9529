//! Where this was measured, and how late that machine wakes a sleeper.

use crate::{cell::Outcome, stats};
use std::{
    fmt,
    time::{Duration, Instant},
};

/// The machine and the build, as far as they bear on the numbers.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) rustc: &'static str,
    pub(crate) profile: &'static str,
    /// How late a sleep of 1 ms ends: the 99th percentile, in nanoseconds.
    pub(crate) wake_p99: f64,
    /// What there is to know of each server.
    pub(crate) servers: Vec<String>,
}

const SLEEPS: usize = 300;
const SLEEP: Duration = Duration::from_millis(1);

/// Looks around. Takes about half a second.
pub(crate) fn host() -> Outcome<Host> {
    Ok(Host {
        cores: std::thread::available_parallelism()?.get(),
        kernel: kernel(),
        rustc: env!("BENCH_RUSTC"),
        profile: env!("BENCH_PROFILE"),
        wake_p99: stats::percentile(&lateness()?, 99),
        servers: Vec::new(),
    })
}

fn kernel() -> String {
    let system = std::env::consts::OS;
    std::fs::read_to_string("/proc/sys/kernel/osrelease").map_or_else(
        |_| system.to_owned(),
        |release| format!("{system} {}", release.trim()),
    )
}

/// Tokio counts whole milliseconds and never wakes early, so up to one of them is its own doing.
fn lateness() -> Outcome<Vec<f64>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    Ok(runtime.block_on(async {
        let mut late = Vec::with_capacity(SLEEPS);
        for _ in 0..SLEEPS {
            let due = Instant::now() + SLEEP;
            tokio::time::sleep(SLEEP).await;
            late.push(due.elapsed().as_nanos() as f64);
        }
        late
    }))
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cores, {}, {}, {} profile; sleeps of 1 ms end {:.2} ms late at p99",
            self.cores,
            self.kernel,
            self.rustc,
            self.profile,
            self.wake_p99 / 1e6
        )?;
        self.servers
            .iter()
            .try_for_each(|server| write!(f, "\n{server}"))
    }
}
