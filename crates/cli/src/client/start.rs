//! `lockwork start`: an instance, without waiting for it.

use super::{answer, ask::Node};
use crate::{args::Start, exit::Ended, show};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) async fn run(args: Start) -> Ended {
    let node = Node::of(&args.show.at)?;
    let wanted = json!({ "input": args.input, "correlation": args.correlation, "key": args.key });
    let created = begin(&node, &args.id, wanted).await?;
    Ok(answer(args.show.json, &created, |created| {
        show::print(super::cell(&created["instance"]));
    }))
}

/// Begins an instance, which runs whatever becomes of us.
pub(crate) async fn begin(node: &Node, definition: &str, wanted: Value) -> Ended<Value> {
    let path = ["definitions", definition, "start"];
    node.ask(Method::POST, &path, &[("wait", "false")], Some(wanted))
        .await
}
