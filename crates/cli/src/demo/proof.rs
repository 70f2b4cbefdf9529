//! Whether every order was done once, from what is written down.

use super::orders::{self, definitions};
use crate::{
    client::{Node, list},
    exit::Ended,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the store says at the end.
#[derive(Debug, Default)]
pub(super) struct Proof {
    pub(super) orders: usize,
    pub(super) finished: usize,
    pub(super) parcels: usize,
    /// Completed ones, in all journals.
    pub(super) steps: usize,
    /// What is not as it should be.
    pub(super) wrong: Vec<String>,
}

/// Reads every journal of the demo.
pub(super) async fn read(node: &Node, run: &str, wanted: usize) -> Ended<Proof> {
    let mut proof = Proof::default();
    for definition in definitions() {
        let id = definition["id"].as_str().unwrap_or_default();
        let found = orders::all(node, id, run).await?;
        if found.len() != wanted {
            let sentence = format!(
                "there are {} of {id}, and {wanted} were wanted",
                found.len()
            );
            proof.wrong.push(sentence);
        }
        match id {
            "demo-order" => proof.orders = found.len(),
            _ => proof.parcels = found.len(),
        }
        let steps = paths(&definition["root"], "");
        for one in &found {
            let instance = one["instance"].as_str().unwrap_or_default();
            let path = ["instances", instance, "journal"];
            let journal = node.pages(&path, "entries", "from").await?;
            let (completed, wrong) = judge(&steps, list(&journal, "entries"));
            proof.steps += completed;
            proof.finished += usize::from(id == "demo-order" && one["subStatus"] == "finished");
            let wrong = wrong
                .into_iter()
                .map(|wrong| format!("{id} {instance}: {wrong}"));
            proof.wrong.extend(wrong);
        }
    }
    Ok(proof)
}

/// Every activity, by its path.
fn paths(activity: &Value, above: &str) -> Vec<String> {
    let path = format!("{above}{}", activity["id"].as_str().unwrap_or_default());
    let inside = list(activity, "do").iter();
    let inside: Vec<_> = inside
        .flat_map(|one| paths(one, &format!("{path}/")))
        .collect();
    [vec![path], inside].concat()
}

/// How many steps are completed in a journal, and what is wrong with it: each step has to be there once, and the end.
fn judge(steps: &[String], entries: &[Value]) -> (usize, Vec<String>) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        let what = match entry["happened"].as_str() {
            Some("completed") => entry["node"].as_str(),
            end @ Some("instanceFinished") => end,
            _ => None,
        };
        *times.entry(what.unwrap_or_default()).or_default() += 1;
    }
    times.remove("");
    let wanted = steps.iter().map(String::as_str).chain(["instanceFinished"]);
    let count = |what: &str| times.get(what).copied().unwrap_or_default();
    let wrong = wanted.filter(|what| count(what) != 1);
    let wrong = wrong.map(|what| format!("{what} is there {} times", count(what)));
    let completed = steps.iter().map(|step| count(step)).sum();
    (completed, wrong.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(happened: &str, node: Option<&str>) -> Value {
        json!({ "happened": happened, "node": node })
    }

    #[test]
    fn a_journal_is_right_if_each_step_and_the_end_are_there_once() {
        let steps = paths(&json!({ "id": "a", "do": [{ "id": "b" }] }), "");
        assert_eq!(steps, ["a", "a/b"]);
        let (b, a) = (
            entry("completed", Some("a/b")),
            entry("completed", Some("a")),
        );
        let end = entry("instanceFinished", None);
        let started = entry("started", Some("a"));
        let right = [started, b.clone(), a.clone(), end.clone()];
        assert_eq!(judge(&steps, &right), (2, vec![]));
        let wrong = |entries: &[Value]| judge(&steps, entries).1;
        assert_eq!(
            wrong(&[b.clone(), a.clone()]),
            ["instanceFinished is there 0 times"]
        );
        assert_eq!(wrong(&[a.clone(), end.clone()]), ["a/b is there 0 times"]);
        assert_eq!(wrong(&[b.clone(), b, a, end]), ["a/b is there 2 times"]);
    }
}
