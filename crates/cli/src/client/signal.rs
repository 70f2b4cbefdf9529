//! `lockwork signal`: something happened, for whoever waits for it.

use super::{answer, ask::Node, cell, list};
use crate::{args::Signal, exit::Ended, show};
use serde_json::{Value, json};

pub(crate) async fn run(args: Signal) -> Ended {
    let node = Node::of(&args.show.at)?;
    let event = json!({
        "payload": args.payload,
        "instance": args.instance,
        "correlation": args.correlation,
    });
    let reached = node.post(&["events", &args.name], event).await?;
    Ok(answer(args.show.json, &reached, print))
}

fn print(reached: &Value) {
    for what in ["started", "resumed"] {
        for ran in list(reached, what) {
            let (id, status) = (cell(&ran["instance"]), cell(&ran["subStatus"]));
            show::print(format_args!("{what} {id}: {status}"));
        }
    }
    let later = reached["later"].as_u64().unwrap_or(0);
    if later > 0 {
        show::print(format_args!("{later} will be told later"));
    }
    if reached["queued"].as_bool() == Some(true) {
        show::print("nobody waits for it yet: it is kept for whoever will");
    }
}
