//! Which node runs an instance now: the one that holds its lock.

use super::{ask::Node, cell, list, moment};
use serde_json::{Value, json};

/// After these nobody runs it any more.
const OVER: [&str; 3] = ["finished", "cancelled", "faulted"];

/// Who runs it: null, if nobody does. Nothing, if it is over, or if the node cannot tell: it may have no locks, or they no
/// list of holders.
pub(super) async fn now(node: &Node, id: &str, state: &Value) -> Option<Value> {
    let is_over = |status: &str| OVER.contains(&status);
    if state["subStatus"].as_str().is_none_or(is_over) {
        return None;
    }
    let lock = holder(node, &format!("workflow-instance:{id}")).await?;
    if lock.is_null() {
        return Some(Value::Null);
    }
    let name = name(node, &lock["client"]).await;
    Some(json!({ "node": name, "client": lock["client"], "since": lock["since"] }))
}

/// Whoever holds a lock: null, if nobody does.
async fn holder(node: &Node, name: &str) -> Option<Value> {
    let lock = node.get(&["locks", name], &[]).await.ok()?;
    Some(lock["holders"][0].clone())
}

/// What the node is called that is this client of the lock server. Each has a lock of its own name for as long as it lives.
async fn name(node: &Node, client: &Value) -> Option<String> {
    let found = node.get(&["nodes"], &[]).await.ok()?;
    let living = list(&found, "nodes").iter();
    let living = living.filter(|one| one["alive"] == true && client.is_string());
    for name in living.filter_map(|one| one["name"].as_str()) {
        let own = holder(node, &format!("workflow-node:{name}")).await?;
        if own["client"] == *client {
            return Some(name.to_owned());
        }
    }
    None
}

/// For people: `node-a (host, process 4711), since 3s ago`.
pub(super) fn in_words(runs: &Value) -> String {
    if runs.is_null() {
        return "no node now".to_owned();
    }
    let who = match (&runs["node"], &runs["client"]) {
        (Value::Null, client) => cell(client),
        (name, client) => format!("{} ({})", cell(name), cell(client)),
    };
    match runs["since"].is_i64() {
        true => format!("{who}, since {}", moment(&runs["since"])),
        false => who,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_runs_it_is_named_as_far_as_it_is_known() {
        let runs = json!({ "node": "a\x1b", "client": "host, process 7" });
        assert_eq!(in_words(&runs), "a\\u{1b} (host, process 7)");
        let since = super::super::now() - 500;
        let runs = json!({ "node": null, "client": "process 7", "since": since });
        assert_eq!(in_words(&runs), "process 7, since 0s ago");
        assert_eq!(in_words(&Value::Null), "no node now");
    }
}
