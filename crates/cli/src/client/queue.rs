//! `lockwork queue`, `timers` and `nodes`: what a node has before it, and who shares it.

use super::{answer, ask::Node, cell, list, moment};
use crate::{
    args::{Queue, QueueVerb, Show},
    exit::Ended,
    show, table,
};
use serde_json::{Value, json};

pub(crate) async fn run(args: Queue) -> Ended {
    match args.verb {
        None => whole(args.show, "queue", "waiting", waiting).await,
        Some(QueueVerb::Dead(args)) => whole(args, "dead-letters", "deadLetters", dead).await,
        Some(QueueVerb::Replay { show, id }) => {
            let path = ["dead-letters", &id, "replay"];
            let replayed = Node::of(&show.at)?.post(&path, json!({})).await?;
            Ok(answer(show.json, &replayed, |replayed| {
                show::print(format_args!("tried again as {}", cell(&replayed["id"])));
            }))
        }
    }
}

pub(crate) async fn nodes(args: Show) -> Ended {
    shown(args, "nodes", members).await
}

pub(crate) async fn timers(args: Show) -> Ended {
    shown(args, "timers", due).await
}

async fn shown(args: Show, what: &str, print: fn(&Value)) -> Ended {
    let found = Node::of(&args.at)?.get(&[what], &[]).await?;
    Ok(answer(args.json, &found, print))
}

/// The same of a list that comes in pages.
async fn whole(args: Show, what: &str, field: &str, print: fn(&Value)) -> Ended {
    let found = Node::of(&args.at)?.pages(&[what], field, "after").await?;
    Ok(answer(args.json, &found, print))
}

fn waiting(found: &Value) {
    let rows = list(found, "waiting").iter().map(|one| {
        let stimulus = &one["stimulus"];
        [
            cell(&one["id"]),
            stimulus_name(stimulus),
            moment(&one["created"]),
            moment(&one["expires"]),
        ]
    });
    let rows: Vec<_> = rows.collect();
    match rows.is_empty() {
        true => show::print("nothing waits for somebody"),
        false => table::print(["ID", "STIMULUS", "CAME", "KEPT UNTIL"], &rows),
    }
}

/// Its name if it has one, or else the beginning of its hash.
fn stimulus_name(stimulus: &Value) -> String {
    let name = ["name", "hash"]
        .iter()
        .find_map(|field| stimulus[field].as_str());
    let shown = |name: &str| show::harmless(&name.chars().take(16).collect::<String>());
    name.map_or_else(|| "-".to_owned(), shown)
}

fn dead(found: &Value) {
    let rows = list(found, "deadLetters").iter().map(|one| {
        let failed = &one["reason"]["failed"];
        let why = match failed["error"].is_string() {
            true => cell(&failed["error"]),
            false => cell(&one["reason"]),
        };
        [
            cell(&one["id"]),
            moment(&one["at"]),
            moment(&one["replayed"]),
            why,
        ]
    });
    let rows: Vec<_> = rows.collect();
    match rows.is_empty() {
        true => show::print("everything was done"),
        false => table::print(["ID", "SINCE", "TRIED AGAIN", "WHY"], &rows),
    }
}

fn due(found: &Value) {
    let rows = list(found, "timers").iter().map(|one| {
        let (resume, start) = (&one["kind"]["resume"], &one["kind"]["start"]);
        let (what, whom, at) = match resume.is_object() {
            true => ("resumes", &resume["instance"], &resume["bookmark"]),
            false => ("starts", &start["definition"], &start["node"]),
        };
        [moment(&one["due"]), what.to_owned(), cell(whom), cell(at)]
    });
    let rows: Vec<_> = rows.collect();
    match rows.is_empty() {
        true => show::print("nothing happens by itself"),
        false => table::print(["DUE", "", "WHAT", "AT"], &rows),
    }
}

fn members(found: &Value) {
    let rows = list(found, "nodes").iter().map(|one| {
        let state = match one["alive"].as_bool() {
            Some(true) => "alive",
            _ => "gone",
        };
        [
            cell(&one["name"]),
            state.to_owned(),
            moment(&one["since"]),
            moment(&one["beat"]),
            cell(&one["bursts"]),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table::print(["NODE", "", "SINCE", "LAST HEARD", "BURSTS"], &rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_elses_text_moves_the_cursor() {
        let stimulus = json!({ "name": "a\x1b[2J and more than is shown" });
        assert_eq!(stimulus_name(&stimulus), "a\\u{1b}[2J and more t");
    }
}
