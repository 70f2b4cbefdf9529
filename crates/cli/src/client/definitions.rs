//! `lockwork definitions`: the workflows of a node.

use super::{answer, ask::Node, cell, list, moment};
use crate::{
    args::Definitions,
    exit::{self, End, Ended},
    show, table,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) async fn run(args: Definitions) -> Ended {
    match args {
        Definitions::Ls(show) => {
            let node = Node::of(&show.at)?;
            let found = node.pages(&["definitions"], "definitions", "after").await?;
            Ok(answer(show.json, &found, print))
        }
        Definitions::Put { show, draft, file } => {
            let version = put(&Node::of(&show.at)?, &file, !draft).await?;
            Ok(answer(show.json, &version, told))
        }
        Definitions::Publish { show, version, id } => {
            let path = ["definitions", &id, "publish"];
            let wanted = json!({ "version": version });
            let version = Node::of(&show.at)?.post(&path, wanted).await?;
            Ok(answer(show.json, &version, told))
        }
        Definitions::Show { show, version, id } => {
            let version = version.as_deref().map(|version| ("version", version));
            let path = ["definitions", &id];
            let found = Node::of(&show.at)?.get(&path, version.as_slice()).await?;
            Ok(answer(show.json, &found, |found| {
                show::print(format_args!("{:#}", found["definition"]));
            }))
        }
    }
}

/// Adds what a file defines, and gives the version it is.
pub(super) async fn put(node: &Node, file: &Path, publish: bool) -> Ended<Value> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let sentence = format!("{} cannot be read: {error}", file.display());
        End::new(exit::NOTHING, sentence)
    })?;
    let definition: Value = serde_json::from_str(&text).map_err(|error| {
        let sentence = format!("{} is not JSON: {error}", file.display());
        End::new(exit::USAGE, sentence)
    })?;
    if definition["id"].as_str().is_none() {
        let sentence = format!("{} has no `id` at its top", file.display());
        return Err(End::new(exit::USAGE, sentence));
    }
    add(node, definition, publish).await
}

/// Adds a definition, and gives the version it is.
pub(crate) async fn add(node: &Node, definition: Value, publish: bool) -> Ended<Value> {
    let id = definition["id"].as_str().unwrap_or_default().to_owned();
    let publish = publish.to_string();
    let path = ["definitions", &id];
    node.ask(
        Method::PUT,
        &path,
        &[("publish", &publish)],
        Some(definition),
    )
    .await
}

fn print(found: &Value) {
    let rows = list(found, "definitions").iter().map(|one| {
        let state = match one["published"].as_bool() {
            Some(true) => "published",
            _ => "draft",
        };
        [
            cell(&one["id"]),
            cell(&one["number"]),
            state.to_owned(),
            moment(&one["created"]),
        ]
    });
    let rows: Vec<_> = rows.collect();
    match rows.is_empty() {
        true => show::print("no workflows yet"),
        false => table::print(["ID", "VERSION", "STATE", "CREATED"], &rows),
    }
}

fn told(version: &Value) {
    let state = match version["published"].as_bool() {
        Some(true) => "published",
        _ => "a draft",
    };
    let (id, number) = (cell(&version["id"]), cell(&version["number"]));
    show::print(format_args!("{id} version {number} is {state}"));
}
