//! What a node tells as it happens, as commits of instances.

use crate::client::{Node, list};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Longer than any demo.
const LIMIT: Duration = Duration::from_secs(3600);

/// A commit of an instance, by one of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) by: usize,
    pub(super) instance: String,
    /// Whether the node is still at it.
    pub(super) runs: bool,
    /// How many steps it completed.
    pub(super) steps: usize,
}

/// Tells what the node tells, until it is gone.
pub(super) fn listen(by: usize, node: Node, tell: UnboundedSender<Commit>) {
    tokio::spawn(async move {
        // Only what is shown rests on it: what counts is read from journals.
        let Ok(mut response) = node.live(LIMIT).await else {
            return;
        };
        let mut rest = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            rest.extend_from_slice(&bytes);
            for commit in taken(&mut rest).filter_map(|line| commit(by, &line)) {
                if tell.send(commit).is_err() {
                    return;
                }
            }
        }
    });
}

/// The whole lines at the beginning of `bytes`, which keep what is after them.
fn taken(bytes: &mut Vec<u8>) -> impl Iterator<Item = String> + use<> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole: Vec<_> = bytes.drain(..end.map_or(0, |end| end + 1)).collect();
    let text = String::from_utf8_lossy(&whole).into_owned();
    text.lines()
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
}

fn commit(by: usize, line: &str) -> Option<Commit> {
    let told: Value = serde_json::from_str(line.strip_prefix("data:")?).ok()?;
    told["entries"].as_array()?;
    let entries = list(&told, "entries").iter();
    let completed = entries.filter(|entry| entry["happened"] == "completed");
    Some(Commit {
        by,
        instance: told["instance"].as_str()?.to_owned(),
        runs: told["subStatus"] == "executing",
        steps: completed.count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_whole_however_it_comes() {
        let text = "event: committed\ndata: {\"instance\":\"i\",\"subStatus\":\"executing\",\
                    \"entries\":[{\"happened\":\"started\"},{\"happened\":\"completed\"}]}\n\n: alive\n";
        let (mut bytes, mut found) = (Vec::new(), Vec::new());
        for byte in text.bytes() {
            bytes.push(byte);
            found.extend(taken(&mut bytes).filter_map(|line| commit(1, &line)));
        }
        let instance = "i".to_owned();
        assert_eq!(
            found,
            [Commit {
                by: 1,
                instance,
                runs: true,
                steps: 1
            }]
        );
    }
}
