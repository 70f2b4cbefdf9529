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

/// A result that has its own line ends.
pub(crate) fn bytes(text: &[u8]) {
    let _ = std::io::stdout().write_all(text);
}

/// `text` of somebody else, who may not move the cursor or change the colours of a terminal.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign.is_control() {
            true => shown.extend(sign.escape_default()),
            false => shown.push(sign),
        }
    }
    shown
}

/// `text` in bold, where standard output is a terminal whose user wants colours.
pub(crate) fn bold(text: &str) -> String {
    styled("1", text)
}

/// `text` where it should not be in the way.
pub(crate) fn dim(text: &str) -> String {
    styled("2", text)
}

fn styled(style: &str, text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\x1b[{style}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_elses_text_moves_the_cursor() {
        assert_eq!(harmless("a\x1b[2Jb\nc\u{9b}é"), "a\\u{1b}[2Jb\\nc\\u{9b}é");
    }
}
