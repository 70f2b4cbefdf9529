//! Writing to people: results on standard output, our own sentences on standard error.

use std::{
    fmt,
    io::{IsTerminal, Write},
};

/// A sentence of ours. Nobody may be there to read it, and that changes nothing.
pub(crate) fn say(sentence: impl fmt::Display) {
    let line = format!("lockwork: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A result. Whoever reads it may stop before its end: `lockwork holders … | head -1`.
pub(crate) fn print(text: impl fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// `text` in bold, where standard output is a terminal whose user wants colours.
pub(crate) fn bold(text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\x1b[1m{text}\x1b[0m")
}
