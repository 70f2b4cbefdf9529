//! What is told in the log.

use std::{
    io,
    sync::{Arc, Mutex},
};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// The log of this thread, for as long as it is there.
#[derive(Debug)]
pub(crate) struct Told {
    lines: Lines,
    _until_dropped: DefaultGuard,
}

#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Told {
    pub(crate) fn new() -> Self {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::INFO)
            .with_ansi(false)
            .with_writer(lines.clone())
            .finish();
        Self {
            _until_dropped: tracing::subscriber::set_default(subscriber),
            lines,
        }
    }

    /// How many lines have all of these words.
    pub(crate) fn count(&self, words: &[&str]) -> usize {
        let text = self.lines.0.lock().expect("no test panics here").clone();
        let text = String::from_utf8(text).expect("the log is text");
        let lines = text.lines();
        lines
            .filter(|line| words.iter().all(|word| line.contains(word)))
            .count()
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().expect("no test panics here");
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
