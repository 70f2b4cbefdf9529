//! Two nodes that keep taking an instance from each other, because their locks are not the same ones, say. Neither gets
//! on: so each leaves the instance alone for a while, longer each time, and after some times somebody is told.

use crate::{
    clock::lock,
    ids,
    queue::Processor,
    store::{Claimed, Commit, Held},
};
use lockwork_core::workflow::{ExecutionId, Failure, Incident, InstanceId, NodeId, Result, Status};
use lockwork_flow::State;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// How long an instance is left alone, the first time.
const FIRST: Duration = Duration::from_millis(200);

/// And at most.
const LONGEST: Duration = Duration::from_secs(30);

/// After this many times in a row there is an incident; writing it down may be refused as well, so then each time.
const TOLD: u32 = 5;

/// What happened longer ago than this is over.
const FORGOTTEN: Duration = Duration::from_secs(180);

/// How many instances are remembered before those of which nothing was heard are forgotten.
const MANY: usize = 1024;

/// By what an operator knows the incident.
const CODE: &str = "instance.contended";

/// How often bursts of an instance were fenced off by another node, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Contention(Mutex<HashMap<InstanceId, (u32, Instant)>>);

impl Contention {
    /// It happened once more. Says how often it did.
    fn add(&self, instance: &InstanceId) -> u32 {
        let mut all = lock(&self.0);
        if all.len() >= MANY {
            all.retain(|_, (_, at)| at.elapsed() < FORGOTTEN);
        }
        let (times, at) = all.entry(instance.clone()).or_insert((0, Instant::now()));
        if at.elapsed() >= FORGOTTEN {
            *times = 0;
        }
        (*times, *at) = (times.saturating_add(1), Instant::now());
        *times
    }

    /// A burst counts.
    fn end(&self, instance: &InstanceId) {
        lock(&self.0).remove(instance);
    }
}

/// How long an instance is left alone after so many times: by chance up to half as long again, so that the two do not come
/// back together.
fn pause(times: u32) -> Duration {
    let longer = FIRST.saturating_mul(1 << (times.saturating_sub(1)).min(16));
    longer
        .min(LONGEST)
        .mul_f64(1.0 + rand::random::<f64>() / 2.0)
}

impl Processor {
    /// An errand was done: nobody took its instance away.
    pub(crate) fn calm(&self, held: &Held) {
        if let Some(instance) = held.errand.kind.instance() {
            self.runner.contention.end(instance);
        }
    }

    /// Another node has taken the instance of an errand. Says for how long it is left alone.
    pub(crate) async fn contended(&self, held: &Held) -> Duration {
        let Some(instance) = held.errand.kind.instance() else {
            return FIRST;
        };
        let times = self.runner.contention.add(instance);
        if times >= TOLD {
            tracing::error!(%instance, times, "another node keeps working on the same instance: check that all nodes use the same lock server");
            if let Err(error) = self.open_incident(instance).await {
                tracing::warn!(%instance, %error, "that an instance is worked on by two nodes could not be written down");
            }
        }
        pause(times)
    }

    /// Writes down that two nodes are at it, unless somebody has.
    async fn open_incident(&self, instance: &InstanceId) -> Result<()> {
        let store = &self.runner.store;
        let known = store.load(instance).await?;
        if known.is_none_or(|record| !needs_incident(&record.state)) {
            return Ok(());
        }
        let Some(claimed) = store.claim(instance, &ids::random()).await? else {
            return Ok(());
        };
        let graph = self
            .runner
            .definitions
            .graph(&claimed.state.version)
            .await?;
        let root = &graph.definition().root;
        let (node, activity) = (NodeId::new(root.id.as_str())?, root.kind.clone());
        let commit = self.with_incident(claimed, node, activity);
        store.commit(commit).await.map(drop)
    }

    /// Nothing but the incident. It is about all of the instance, so it is the first activity's.
    fn with_incident(&self, claimed: Claimed, node: NodeId, activity: String) -> Commit {
        let now = self.runner.clock.now();
        let message = "two nodes keep working on this instance at once, so neither gets on: check that all nodes use \
                       the same lock server";
        let mut state = State::clone(&claimed.state);
        state.incidents.push(Incident {
            execution: ExecutionId::numbered(state.contexts.keys().next().copied().unwrap_or(1)),
            failure: Failure::new(CODE, message).may_pass(),
            at: now,
            activity,
            node,
        });
        Commit::new(claimed.claim, Arc::new(state), now)
    }
}

fn needs_incident(state: &State) -> bool {
    let mut incidents = state.incidents.iter();
    let told = incidents.any(|incident| incident.failure.code == CODE);
    !told && state.sub_status.status() == Status::Running
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_begin_at_a_fifth_of_a_second_and_double_up_to_half_a_minute() {
        for (times, wanted) in [
            (1, 200),
            (2, 400),
            (5, 3_200),
            (9, 30_000),
            (u32::MAX, 30_000),
        ] {
            let (least, pause) = (Duration::from_millis(wanted), pause(times));
            assert!(
                pause >= least && pause <= least * 3 / 2,
                "{times}: {pause:?}"
            );
        }
    }

    #[test]
    fn a_burst_that_counts_ends_the_row() {
        let (contention, id) = (Contention::default(), InstanceId::drawn(1));
        assert_eq!([contention.add(&id), contention.add(&id)], [1, 2]);
        assert_eq!(contention.add(&InstanceId::drawn(2)), 1);
        contention.end(&id);
        assert_eq!(contention.add(&id), 1);
    }
}
