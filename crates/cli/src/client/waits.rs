//! What an instance waits for, in words, and whether it goes on by itself.

use super::{cell, list, moment, now};
use crate::show;
use lockwork::flow::{EVENT, TASK};
use serde_json::Value;

/// What comes by itself within this many milliseconds is worth waiting for.
const SOON: i64 = 60_000;

/// What the runtime itself sees to: work in the background, other instances.
const OURS: [&str; 2] = ["Job", "Child"];

/// A line for each bookmark at which it waits.
pub(super) fn in_words(state: &Value) -> Vec<String> {
    list(state, "bookmarks").iter().map(one).collect()
}

fn one(bookmark: &Value) -> String {
    let node = cell(&bookmark["node"]);
    let payload = &bookmark["payload"];
    let what = match bookmark["name"].as_str() {
        Some(EVENT) => format!("the event {}", cell(&payload["name"])),
        Some(TASK) => format!("the task {}", cell(&payload["task"])),
        _ if bookmark["due"].is_i64() => "time to pass".to_owned(),
        Some(name) => show::harmless(name),
        None => "something".to_owned(),
    };
    match bookmark["due"].is_i64() {
        true => format!("{what}, {} ({node})", moment(&bookmark["due"])),
        false => format!("{what} ({node})"),
    }
}

/// Whether something happens in it soon without anybody.
pub(super) fn goes_on(state: &Value) -> bool {
    list(state, "bookmarks").iter().any(|bookmark| {
        let is_ours = |name: &str| OURS.contains(&name);
        let is_soon = |due: i64| due - now() < SOON;
        bookmark["name"].as_str().is_some_and(is_ours)
            || bookmark["due"].as_i64().is_some_and(is_soon)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_is_waited_for_and_a_short_delay_passes_by_itself() {
        let event =
            json!({ "name": "Event", "payload": { "name": "approve" }, "node": "main/yes" });
        let long = json!({ "name": "Delay", "node": "main/no", "due": now() + 86_400_500 });
        let short = json!({ "name": "Delay", "node": "main/no", "due": now() + 500 });
        let state = json!({ "bookmarks": [event.clone(), long] });
        assert!(!goes_on(&state));
        assert_eq!(
            in_words(&state),
            [
                "the event approve (main/yes)",
                "time to pass, in 1d 0h (main/no)"
            ]
        );
        assert!(goes_on(&json!({ "bookmarks": [event, short] })));
    }
}
