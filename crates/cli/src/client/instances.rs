//! `lockwork instances`: looking at them, and what can be done with them.

use super::{answer, ask::Node, cell, journal::Tree, list, moment, runs, waits};
use crate::{
    args::{Ids, Instances, InstancesList, Show},
    exit::Ended,
    show, table,
};
use reqwest::Method;
use serde_json::{Value, json};

/// The longest page a node gives.
const PAGE: usize = 500;

pub(crate) async fn run(args: Instances) -> Ended {
    match args {
        Instances::Ls(args) => ls(args).await,
        Instances::Show { show, id } => one(show, &id).await,
        Instances::Cancel(ids) => each(ids, Method::POST, Some("cancel")).await,
        Instances::Retry(ids) => each(ids, Method::POST, Some("retry")).await,
        Instances::Rm(ids) => each(ids, Method::DELETE, None).await,
    }
}

async fn ls(args: InstancesList) -> Ended {
    let node = Node::of(&args.show.at)?;
    let most = match args.all {
        true => usize::MAX,
        false => usize::try_from(args.limit).unwrap_or(usize::MAX),
    };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let limit = PAGE.min(most - found.len()).to_string();
        let asked = [
            ("definition", args.definition.as_deref()),
            ("subStatus", args.status.as_deref()),
            ("correlation", args.correlation.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", after.as_deref()),
        ];
        let said = asked
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let query: Vec<_> = said.collect();
        let page = node.get(&["instances"], &query).await?;
        found.extend_from_slice(list(&page, "instances"));
        after = page["next"].as_str().map(str::to_owned);
        if after.is_none() || found.len() >= most {
            break;
        }
    }
    let mut all = json!({ "instances": found });
    if let Some(next) = after {
        all["next"] = next.into();
    }
    Ok(answer(args.show.json, &all, print))
}

fn print(found: &Value) {
    let rows = list(found, "instances").iter().map(|one| {
        [
            cell(&one["instance"]),
            cell(&one["definition"]),
            cell(&one["subStatus"]),
            cell(&one["correlation"]),
            moment(&one["created"]),
            cell(&one["waiting"]),
            cell(&one["incidents"]),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return show::print("no instances");
    }
    let titles = [
        "INSTANCE",
        "WORKFLOW",
        "STATUS",
        "CORRELATION",
        "CREATED",
        "WAITS",
        "FAILED",
    ];
    table::print(titles, &rows);
    if found["next"].is_string() {
        show::say("there may be more: --all shows them");
    }
}

async fn one(args: Show, id: &str) -> Ended {
    let node = Node::of(&args.at)?;
    let mut found = node.get(&["instances", id], &[]).await?;
    let path = ["instances", id, "journal"];
    let journal = node.pages(&path, "entries", "from").await?;
    found["journal"] = journal["entries"].clone();
    if let Some(runs) = runs::now(&node, id, &found["state"]).await {
        found["runs"] = runs;
    }
    Ok(answer(args.json, &found, print_one))
}

fn print_one(found: &Value) {
    let state = &found["state"];
    let line = |title: &str, text: &str| {
        let title = show::bold(&format!("{title:11}"));
        show::print(format_args!("{title}  {text}"));
    };
    line("Instance", &cell(&state["instance"]));
    line("Workflow", &cell(&found["definition"]));
    line("Status", &cell(&state["subStatus"]));
    if let Some(runs) = found.get("runs") {
        line("Runs on", &runs::in_words(runs));
    }
    line("Created", &moment(&state["created"]));
    for (title, field) in [("Correlation", "correlation"), ("Name", "name")] {
        if state[field].is_string() {
            line(title, &cell(&state[field]));
        }
    }
    line("Output", &cell(&state["output"]));
    // Once it is over, nobody can resume it any more.
    if state["subStatus"] == "suspended" {
        for waits in waits::in_words(state) {
            line("Waits for", &waits);
        }
    }
    for incident in list(state, "incidents") {
        line("Failed", &super::incident(incident));
    }
    Tree::default().print(list(found, "journal"));
}

/// Does the same with each. What fails is told, and the others are done all the same.
async fn each(args: Ids, method: Method, what: Option<&str>) -> Ended {
    let (node, mut code) = (Node::of(&args.at)?, 0);
    for id in &args.ids {
        let path: Vec<_> = ["instances", id].into_iter().chain(what).collect();
        let body = what.map(|_| json!({}));
        match node.ask(method.clone(), &path, &[], body).await {
            Ok(done) => show::print(format_args!("{id}: {}", told(what, &done))),
            Err(end) => {
                show::say(format_args!("{id}: {}", end.sentence));
                code = if code == 0 { end.code } else { code };
            }
        }
    }
    Ok(code)
}

fn told(what: Option<&str>, done: &Value) -> String {
    match (what, done["cancelled"].as_str()) {
        (Some("cancel"), Some("done")) => "cancelled".to_owned(),
        (Some("cancel"), Some("requested")) => "will be cancelled at its next step".to_owned(),
        (Some("cancel"), _) => "was over already".to_owned(),
        (Some(_), _) => cell(&done["subStatus"]),
        (None, _) => "removed".to_owned(),
    }
}
