//! What is true of each instance between two bursts, whatever became of it.

use crate::support::Instance;
use lockwork_core::workflow::{ActivityStatus, SubStatus};
use lockwork_flow::{Context, Effect, Happened, Number};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(instance: &Instance) {
    ends_or_waits(instance);
    contexts_have_a_purpose(instance);
    executions_end_once(instance);
    names_are_used_once(instance);
}

/// It is over, waits at a bookmark, or somebody has to look at an incident.
fn ends_or_waits(instance: &Instance) {
    let state = &instance.state;
    let empty = state.contexts.is_empty() && state.bookmarks.is_empty() && state.queue.is_empty();
    match state.sub_status {
        SubStatus::Finished | SubStatus::Cancelled => {
            assert!(empty, "{state:#?}");
            assert!(state.incidents.is_empty(), "{state:#?}");
            assert!(state.finished.is_some());
        }
        SubStatus::Faulted => {
            assert!(!state.incidents.is_empty(), "{state:#?}");
            assert!(state.finished.is_some());
        }
        SubStatus::Suspended => {
            assert!(state.queue.is_empty(), "{state:#?}");
            let waits = !state.bookmarks.is_empty() || !state.incidents.is_empty();
            assert!(waits, "{state:#?}");
        }
        other => panic!("nobody stopped it, and it is {other:?}"),
    }
}

/// Each execution that is not over waits for something inside, for a stimulus, for its turn, or for help; and each
/// bookmark, each thing to be done and each incident belongs to one.
fn contexts_have_a_purpose(instance: &Instance) {
    let state = &instance.state;
    let waits = numbers(state.bookmarks.iter().map(|one| one.execution.number()));
    let failed = numbers(state.incidents.iter().map(|one| one.execution.number()));
    // Their names are the engine's own; what they say is in the JSON as well.
    let queue = serde_json::to_value(&state.queue).unwrap();
    let queue = queue.as_array().into_iter().flatten();
    let queued = numbers(queue.map(|work| {
        let execute = work.get("execute").and_then(serde_json::Value::as_u64);
        execute.or_else(|| work.get("resume")?.get("execution")?.as_u64())
    }));
    for number in waits.iter().chain(&failed).chain(&queued) {
        assert!(
            state.contexts.contains_key(number),
            "{number} is gone: {state:#?}"
        );
    }
    let owners = numbers(state.contexts.values().map(|context| context.owner));
    for (number, context) in &state.contexts {
        let Context { owner, status, .. } = context;
        assert!(
            owner.is_none_or(|owner| state.contexts.contains_key(&owner)),
            "{state:#?}"
        );
        let waiting = waits.contains(number) || queued.contains(number) || owners.contains(number);
        match status {
            ActivityStatus::Pending | ActivityStatus::Running => {
                assert!(waiting, "{number}: {state:#?}")
            }
            ActivityStatus::Faulted => {
                assert!(failed.contains(number) && !waiting, "{number}: {state:#?}")
            }
            ActivityStatus::Completed | ActivityStatus::Cancelled => {
                panic!("{number} is over: {state:#?}")
            }
        }
    }
}

fn numbers(all: impl Iterator<Item = Option<Number>>) -> BTreeSet<Number> {
    all.flatten().collect()
}

/// What began ends once, or is still there; and nothing happens to it afterwards.
fn executions_end_once(instance: &Instance) {
    let (mut began, mut over) = (BTreeSet::new(), BTreeSet::new());
    for (at, entry) in instance.journal.iter().enumerate() {
        assert_eq!(entry.sequence, u64::try_from(at).unwrap());
        let Some(number) = entry.execution.as_ref().and_then(|one| one.number()) else {
            continue;
        };
        assert!(!over.contains(&number), "{number} was over: {entry:?}");
        match entry.happened {
            Happened::Started => drop(began.insert(number)),
            Happened::Completed | Happened::Cancelled => drop(over.insert(number)),
            _ => assert!(began.contains(&number), "{number} did not begin: {entry:?}"),
        }
    }
    assert_eq!(
        instance.state.entries,
        u64::try_from(instance.journal.len()).unwrap()
    );
    for number in began {
        let is_there = instance.state.contexts.contains_key(&number);
        assert_ne!(is_there, over.contains(&number), "{number}");
    }
}

/// A number is one execution of one activity, or one bookmark, or one thing that left the instance.
fn names_are_used_once(instance: &Instance) {
    let mut nodes = BTreeMap::new();
    for entry in &instance.journal {
        let (Some(node), Some(execution)) = (&entry.node, &entry.execution) else {
            continue;
        };
        let number = execution.number().unwrap();
        assert!(number < instance.state.next);
        let before = nodes.entry(number).or_insert(node);
        assert_eq!(*before, node, "{number} is two");
    }
    let mut others = BTreeSet::new();
    let sent = instance.effects.iter().filter_map(|effect| match effect {
        Effect::Send(stimulus) => stimulus.key.clone(),
        Effect::Dispatch { instance, .. } => Some(instance.to_string()),
        Effect::Task { task, .. } => Some(task.id.clone()),
        Effect::Job { job, .. } => Some(job.key.clone()),
        Effect::Cancel(_) => None,
    });
    let bookmarks = instance
        .state
        .bookmarks
        .iter()
        .map(|one| one.id.to_string());
    for name in sent.chain(bookmarks) {
        assert!(others.insert(name.clone()), "{name} is two");
        let number = name
            .rsplit([':', '.'])
            .next()
            .and_then(|last| last.parse().ok());
        let is_key = name.matches(':').count() == 2;
        assert!(
            is_key || number.is_none_or(|number: Number| !nodes.contains_key(&number)),
            "{name}"
        );
    }
}
