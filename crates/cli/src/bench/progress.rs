//! How far a measurement is, for people who watch: on standard error, if that is a terminal.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};
use tokio::task::AbortHandle;

const WIDTH: u128 = 30;

const OFTEN: Duration = Duration::from_millis(100);

/// A bar that grows, until it is dropped: then it is gone.
#[derive(Debug)]
pub(super) struct Progress(Option<AbortHandle>);

impl Progress {
    pub(super) fn show(what: &'static str, seconds: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let whole = Duration::from_secs(seconds);
        let showing = tokio::spawn(async move {
            let start = Instant::now();
            loop {
                write(&format!("\r{}", bar(what, start.elapsed(), whole)));
                tokio::time::sleep(OFTEN).await;
            }
        });
        Self(Some(showing.abort_handle()))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(showing) = &self.0 {
            showing.abort();
            // To the beginning of the line, and nothing behind.
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn bar(what: &str, passed: Duration, whole: Duration) -> String {
    let done = passed.as_millis() * WIDTH / whole.as_millis().max(1);
    let done = usize::try_from(done.min(WIDTH)).unwrap_or_default();
    let rest = usize::try_from(WIDTH).unwrap_or_default() - done;
    let bar = format!("{}{}", "#".repeat(done), ".".repeat(rest));
    format!("{what:24}  [{bar}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_and_is_never_too_long() {
        let bar = |seconds| bar("x", Duration::from_secs(seconds), Duration::from_secs(3));
        let signs = |seconds, sign| bar(seconds).matches(sign).count();
        assert_eq!((signs(0, '#'), signs(1, '#'), signs(9, '#')), (0, 10, 30));
        assert_eq!(bar(0).len(), bar(9).len());
    }
}
