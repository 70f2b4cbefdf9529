//! Showing what happens: a line for each event, and at a terminal a table under them that is drawn again and again.

use crate::show;
use std::{
    io::{IsTerminal, Write},
    time::Instant,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Silently,
    InLines,
    WithTable,
}

#[derive(Debug)]
pub(super) struct Screen {
    how: How,
    began: Instant,
    /// The table as it stands there.
    table: Vec<String>,
}

impl Screen {
    pub(super) fn new(is_silent: bool) -> Self {
        let how = match (is_silent, std::io::stdout().is_terminal()) {
            (true, _) => How::Silently,
            (_, true) => How::WithTable,
            _ => How::InLines,
        };
        let (began, table) = (Instant::now(), Vec::new());
        Self { how, began, table }
    }

    /// Whether somebody sees a table.
    pub(super) fn has_table(&self) -> bool {
        self.how == How::WithTable
    }

    /// Something happened.
    pub(super) fn event(&mut self, text: &str) {
        let since = self.began.elapsed().as_secs_f64();
        let line = format!("{}  {text}", show::dim(&format!("{since:5.1}s")));
        self.put(&[line]);
    }

    /// Lines that stay, above the table.
    pub(super) fn put(&mut self, lines: &[String]) {
        match self.how {
            How::Silently => {}
            How::InLines => lines.iter().for_each(show::print),
            How::WithTable => {
                let table = std::mem::take(&mut self.table);
                write(&drawn(table.len(), &[lines, &table].concat()));
                self.table = table;
            }
        }
    }

    /// The last lines, under the table as it stands there.
    pub(super) fn end(&mut self, lines: &[String]) {
        self.table.clear();
        self.put(lines);
    }

    /// The table, in the place of the last one.
    pub(super) fn draw(&mut self, table: Vec<String>) {
        if self.has_table() {
            write(&drawn(self.table.len(), &table));
            self.table = table;
        }
    }
}

/// `lines` in the place of the last `over`. A line that is too long is cut: one that goes on in the next would be in the
/// way of the next drawing.
fn drawn(over: usize, lines: &[String]) -> String {
    let up = match over {
        0 => String::new(),
        over => format!("\x1b[{over}A"),
    };
    let lines: String = lines
        .iter()
        .map(|line| format!("{line}\x1b[K\r\n"))
        .collect();
    format!("\x1b[?7l{up}\x1b[J{lines}\x1b[?7h")
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody may be there to see it.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_stands_where_the_last_one_stood() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            drawn(0, &lines),
            "\x1b[?7l\x1b[Ja\x1b[K\r\nb\x1b[K\r\n\x1b[?7h"
        );
        assert!(drawn(2, &lines).starts_with("\x1b[?7l\x1b[2A\x1b[J"));
    }
}
