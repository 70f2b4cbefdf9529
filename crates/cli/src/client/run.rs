//! `lockwork run`: an instance from its beginning, and what happens in it until it is over or waits for somebody.

use super::{
    ask::Node,
    cell, definitions,
    journal::{Tree, seconds},
    start, waits,
};
use crate::{
    args::Run,
    exit::{self, Ended},
    show,
};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// How many seconds a node waits for something to happen before it answers that nothing has.
const WAIT: &str = "10";

/// A node that says sooner that nothing has happened is about to end: asking it again at once would only keep it busy.
const EARLY: Duration = Duration::from_millis(250);

/// After these an instance may be at rest.
const RESTS: [&str; 4] = [
    "instanceSuspended",
    "instanceFinished",
    "instanceCancelled",
    "instanceFaulted",
];

pub(crate) async fn run(args: Run) -> Ended {
    let node = Node::of(&args.at)?;
    let definition = definition(&node, &args.what).await?;
    let wanted = json!({ "input": args.input, "correlation": args.correlation });
    let created = start::begin(&node, &definition, wanted).await?;
    let instance = cell(&created["instance"]);
    show::print(show::bold(&format!("{definition} {instance}")));
    let state = follow(&node, &instance).await.map_err(|mut end| {
        let hint =
            format!(". Nothing is lost: `lockwork instances show {instance}` tells how it goes on");
        end.sentence.push_str(&hint);
        end
    })?;
    Ok(end(&state))
}

/// The id of the workflow. A file is published first.
async fn definition(node: &Node, what: &str) -> Ended<String> {
    let file = Path::new(what);
    if !file.is_file() && !what.ends_with(".json") {
        return Ok(what.to_owned());
    }
    let version = definitions::put(node, file, true).await?;
    Ok(cell(&version["id"]))
}

/// Prints what happens until nothing does any more, and gives the state of then.
async fn follow(node: &Node, instance: &str) -> Ended<Value> {
    let mut tree = Tree::default();
    loop {
        let (from, asked) = (tree.next.to_string(), Instant::now());
        let path = ["instances", instance, "journal"];
        let journal = node.get(&path, &[("from", &from), ("wait", WAIT)]).await?;
        let entries = super::list(&journal, "entries");
        tree.print(entries);
        if !entries.is_empty() && !RESTS.contains(&tree.last.as_str()) {
            continue;
        }
        if entries.is_empty() && asked.elapsed() < EARLY {
            tokio::time::sleep(EARLY).await;
        }
        let mut found = node.get(&["instances", instance], &[]).await?;
        let state = found["state"].take();
        if state["entries"].as_u64() == Some(tree.next) && rests(&state) {
            return Ok(state);
        }
    }
}

/// Whether nothing happens in it before somebody does something.
fn rests(state: &Value) -> bool {
    match state["subStatus"].as_str() {
        Some("finished" | "cancelled" | "faulted") => true,
        Some("suspended") => !waits::goes_on(state),
        _ => false,
    }
}

/// Says how it ended, and ends so.
fn end(state: &Value) -> u8 {
    let status = cell(&state["subStatus"]);
    if status == "suspended" {
        show::print(show::bold("waits for"));
        for line in waits::in_words(state) {
            show::print(format_args!("  {line}"));
        }
        return 0;
    }
    let (began, over) = (state["created"].as_i64(), state["finished"].as_i64());
    let took = over.zip(began).map(|(over, began)| seconds(over - began));
    let took = took.map_or_else(String::new, |took| format!(" after {took}"));
    show::print(show::bold(&format!("{status}{took}")));
    for incident in super::list(state, "incidents") {
        show::print(format_args!("  {}", super::incident(incident)));
    }
    show::print(cell(&state["output"]));
    match status.as_str() {
        "finished" => 0,
        _ => exit::FOUND,
    }
}
