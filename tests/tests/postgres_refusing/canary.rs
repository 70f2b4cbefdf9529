//! A password that must not be seen: in no error, in nothing that is printed, and in no log.

use std::{
    error::Error,
    fmt::Debug,
    io::{self, Write},
    sync::{Mutex, Once},
};
use tracing_subscriber::filter::LevelFilter;

/// Nothing else looks like it.
pub(crate) const CANARY: &str = "canary-7f3a9c51e2";

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Keeps everything that is logged from now on, by whomever, on whatever thread.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(|| Log)
            .init();
    });
}

/// Fails if an error, or a cause of it, has the password in it.
pub(crate) fn is_not_in(error: &(dyn Error + 'static)) {
    let mut next = Some(error);
    while let Some(error) = next {
        is_not_in_text(&error.to_string());
        is_not_shown_by(&error);
        next = error.source();
    }
    is_not_in_the_log();
}

/// Fails if what `Debug` prints has the password in it.
pub(crate) fn is_not_shown_by(value: &impl Debug) {
    is_not_in_text(&format!("{value:?}"));
    is_not_in_text(&format!("{value:#?}"));
}

/// Fails if the password was logged.
pub(crate) fn is_not_in_the_log() {
    is_not_in_text(&log());
}

/// What was logged so far.
pub(crate) fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

fn is_not_in_text(text: &str) {
    assert!(!text.contains(CANARY), "the password is in: {text}");
    // As bytes are printed.
    let bytes = format!("{:?}", CANARY.as_bytes());
    assert!(!text.contains(&bytes), "the password is in: {text}");
}

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
