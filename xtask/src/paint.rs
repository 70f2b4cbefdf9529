//! Colour for what the operator reads, and none for what a file or a pipe
//! receives: each stream is asked whether it is a terminal.

use std::io::IsTerminal;

/// Whether one stream takes colour.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

/// The paint for standard output.
pub(crate) fn stdout() -> Paint {
    Paint::when(std::io::stdout().is_terminal())
}

/// The paint for standard error.
pub(crate) fn stderr() -> Paint {
    Paint::when(std::io::stderr().is_terminal())
}

impl Paint {
    /// `NO_COLOR` is the usual wish for none: <https://no-color.org>.
    fn when(terminal: bool) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            on: terminal && !unwanted,
        }
    }

    /// For what went wrong.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// For what went well.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// For headings.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// For what may be skipped when reading.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
