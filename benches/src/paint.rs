//! Colour for the terminal, and none for a file or a pipe.

use std::io::IsTerminal;

#[derive(Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

/// The paint for standard error. `NO_COLOR` is the usual wish for none: <https://no-color.org>.
pub(crate) fn stderr() -> Paint {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Paint {
        on: std::io::stderr().is_terminal() && !unwanted,
    }
}

impl Paint {
    /// For what went wrong.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// For what went well.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
