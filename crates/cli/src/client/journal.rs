//! What happened in an instance, as a tree: what is inside of something stands further to the right.

use super::cell;
use crate::show;
use serde_json::Value;

/// The outcome of an activity that has nothing to say.
const USUAL: &str = "Done";

/// Prints a journal as it comes, with the time since its first entry.
#[derive(Debug, Default)]
pub(super) struct Tree {
    began: Option<i64>,
    /// The sequence of the next entry.
    pub(super) next: u64,
    /// What the last one was.
    pub(super) last: String,
}

impl Tree {
    pub(super) fn print(&mut self, entries: &[Value]) {
        for entry in entries {
            show::print(self.line(entry));
        }
    }

    fn line(&mut self, entry: &Value) -> String {
        let at = entry["at"].as_i64().unwrap_or_default();
        let began = *self.began.get_or_insert(at);
        self.next = entry["sequence"]
            .as_u64()
            .map_or(self.next, |number| number + 1);
        self.last = cell(&entry["happened"]);
        let since = show::dim(&format!("{:>9}", seconds(at - began)));
        format!("{since}  {}", words(entry))
    }
}

fn words(entry: &Value) -> String {
    let happened = entry["happened"].as_str().unwrap_or_default();
    let path = entry["node"].as_str().map(show::harmless);
    let Some(path) = path else {
        // It was the instance: `instanceFinished`.
        let what = happened.strip_prefix("instance").unwrap_or(happened);
        return with_note(&what.to_lowercase(), &entry["note"]);
    };
    let indent = "  ".repeat(path.matches('/').count() + 1);
    let name = path.rsplit('/').next().unwrap_or(&path);
    match happened {
        "logged" => format!("{indent}{name}: {}", cell(&entry["note"])),
        _ => format!(
            "{indent}{}",
            with_note(&format!("{name} {happened}"), &entry["note"])
        ),
    }
}

fn with_note(text: &str, note: &Value) -> String {
    match note.as_str() {
        Some(note) if note != USUAL => format!("{text}: {}", show::harmless(note)),
        _ => text.to_owned(),
    }
}

/// `1.250s`, from milliseconds.
pub(super) fn seconds(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}s", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_inside_stands_further_to_the_right() {
        let mut tree = Tree::default();
        let entry = |sequence: u64, node: Option<&str>, happened: &str, note: Option<&str>| json!({ "sequence": sequence, "at": 1_000 + sequence * 250, "node": node, "happened": happened, "note": note });
        let lines = [
            entry(0, None, "instanceStarted", None),
            entry(1, Some("main"), "started", None),
            entry(2, Some("main/hello"), "logged", Some("Hello Ada")),
            entry(3, Some("main/hello"), "faulted", Some("no: why")),
        ];
        let lines = lines.map(|entry| tree.line(&entry));
        assert_eq!(
            lines,
            [
                "   0.000s  started",
                "   0.250s    main started",
                "   0.500s      hello: Hello Ada",
                "   0.750s      hello faulted: no: why",
            ]
        );
        assert_eq!((tree.next, tree.last.as_str()), (4, "faulted"));
    }
}
