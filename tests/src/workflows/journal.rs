//! What is left of a run: the journal of each instance, without what may differ between two runs.

use lockwork::{
    flow::Entry,
    runtime::{Store, store::Filter},
    workflow::{InstanceId, Result, SubStatus},
};
use std::collections::{BTreeMap, BTreeSet};

/// The journal of each instance, as lines, and how far it is.
pub type Journals = BTreeMap<InstanceId, (SubStatus, Vec<String>)>;

/// Those of all instances in `store`.
///
/// # Errors
/// Those of the store.
pub async fn journals(store: &dyn Store) -> Result<Journals> {
    let mut all = Journals::new();
    for record in store.list(Filter::default()).await? {
        let instance = record.state.instance.clone();
        let journal = store.journal(&instance, 0).await?;
        let lines = journal.iter().map(line).collect();
        all.insert(instance, (record.state.sub_status, lines));
    }
    Ok(all)
}

/// One entry without its time.
fn line(entry: &Entry) -> String {
    let part = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
    let node = part(entry.node.as_ref().map(ToString::to_string));
    let execution = part(entry.execution.as_ref().map(ToString::to_string));
    let note = part(entry.note.clone());
    let (sequence, happened) = (entry.sequence, entry.happened);
    format!("{sequence:4} {happened:?} {node} {execution} {note}")
}

/// The same as if no node had been told to end, and how many bursts were interrupted because one was.
#[must_use]
pub fn uninterrupted(mut journals: Journals) -> (Journals, usize) {
    let mut interrupted = 0;
    for (_, lines) in journals.values_mut() {
        let mut gone = 0;
        lines.retain_mut(|line| {
            let (number, rest) = line.trim_start().split_once(' ').expect("a line");
            let number: usize = number.parse().expect("the number of a line");
            let stays = !rest.starts_with("InstanceInterrupted ");
            *line = format!("{:4} {rest}", number - gone);
            gone += usize::from(!stays);
            stays
        });
        interrupted += gone;
    }
    (journals, interrupted)
}

/// What differs, if anything does: the first instances in which something does, with the lines around the first difference.
#[must_use]
pub fn difference(expected: &Journals, found: &Journals) -> Option<String> {
    const SHOWN: usize = 5;
    let all: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    let total = all.len();
    let mut different = all;
    different.retain(|&id| expected.get(id) != found.get(id));
    let (count, mut text) = (different.len(), String::new());
    for id in different.into_iter().take(SHOWN) {
        text.push_str(&of_one(id, expected.get(id), found.get(id)));
    }
    (count > 0).then(|| format!("{count} of {total} instances differ\n{text}"))
}

type One = (SubStatus, Vec<String>);

fn of_one(id: &InstanceId, expected: Option<&One>, found: Option<&One>) -> String {
    let (Some(expected), Some(found)) = (expected, found) else {
        let there = if found.is_some() { "more" } else { "missing" };
        return format!("{id}: one {there}\n");
    };
    let mut text = format!("{id}: {:?}, expected {:?}\n", found.0, expected.0);
    let same = expected.1.iter().zip(&found.1).take_while(|(a, b)| a == b);
    let same = same.count();
    let near = same.saturating_sub(3)..same + 4;
    for at in near {
        match (expected.1.get(at), found.1.get(at)) {
            (Some(line), Some(same)) if line == same => text.push_str(&format!("    {line}\n")),
            (expected, found) => {
                expected.inspect(|line| text.push_str(&format!("  - {line}\n")));
                found.inspect(|line| text.push_str(&format!("  + {line}\n")));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(lines: &[&str]) -> Journals {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        Journals::from([(InstanceId::drawn(1), (SubStatus::Finished, lines))])
    }

    #[test]
    fn equal_journals_have_no_difference() {
        assert_eq!(difference(&one(&["a"]), &one(&["a"])), None);
    }

    #[test]
    fn a_line_that_is_missing_is_shown_with_those_before_it() {
        let text = difference(&one(&["a", "b"]), &one(&["a"])).unwrap();
        assert!(text.contains("1 of 1"), "{text}");
        assert!(text.contains("    a\n  - b\n"), "{text}");
    }

    #[test]
    fn without_interruptions_the_rest_is_numbered_as_if_there_had_been_none() {
        let found = one(&[
            "   0 A -",
            "   1 InstanceInterrupted - - -",
            "   2 B -",
            "   4 C -",
        ]);
        let expected = one(&["   0 A -", "   1 B -", "   3 C -"]);
        assert_eq!(uninterrupted(found), (expected, 1), "a gap is still one");
    }

    #[test]
    fn an_instance_that_is_missing_is_named() {
        let text = difference(&one(&["a"]), &Journals::new()).unwrap();
        assert!(text.contains("one missing"), "{text}");
    }
}
