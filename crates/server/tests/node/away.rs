//! A store that can be away: it refuses, or does not answer at all.

use crate::client::soon;
use lockwork_core::workflow::{
    Answer, DefinitionHandle, DefinitionId, Error, ErrorKind, InstanceId, Time, Values, VersionId,
};
use lockwork_flow::{Entry, State, Task};
use lockwork_runtime::{MemoryStore, store::*};
use std::collections::BTreeSet;
use tokio::sync::watch;

/// What a store says that is away. Nobody without a key may read it.
pub(crate) const SECRET: &str = "no way to db.internal:5432 as lockwork_prod";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mood {
    Answers,
    Refuses,
    Silent,
}

/// A store in memory, and how it is at this moment.
#[derive(Debug)]
pub(crate) struct Away {
    store: MemoryStore,
    mood: watch::Sender<Mood>,
    asked: watch::Sender<BTreeSet<&'static str>>,
}

impl Away {
    pub(crate) fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            mood: watch::Sender::new(Mood::Answers),
            asked: watch::Sender::default(),
        }
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// Until this was asked.
    pub(crate) async fn asked(&self, what: &str) {
        let mut asked = self.asked.subscribe();
        soon(asked.wait_for(|asked| asked.contains(what)))
            .await
            .unwrap();
    }

    fn ask<'a, T: Send + 'a>(&'a self, what: &'static str, answer: Answer<'a, T>) -> Answer<'a, T> {
        Box::pin(async move {
            self.asked.send_modify(|asked| {
                asked.insert(what);
            });
            let mut mood = self.mood.subscribe();
            let mood = mood.wait_for(|mood| *mood != Mood::Silent).await;
            let refuses = mood.is_ok_and(|mood| *mood == Mood::Refuses);
            match refuses {
                true => Err(Error::new(ErrorKind::Unavailable, SECRET)),
                false => answer.await,
            }
        })
    }
}

/// Each method asks the store in memory, if it is there.
macro_rules! asks {
    ($of:ident: $(fn $name:ident($($arg:ident: $kind:ty),*) -> $gives:ty;)*) => {
        impl $of for Away {
            $(fn $name<'a>(&'a self, $($arg: $kind),*) -> Answer<'a, $gives> {
                self.ask(stringify!($name), self.store.$name($($arg),*))
            })*
        }
    };
}

asks! { InstanceStore:
    fn create(new: NewInstance) -> Creation;
    fn claim(instance: &'a InstanceId, id: &'a str) -> Option<Claimed>;
    fn commit(commit: Commit) -> Committed;
    fn load(instance: &'a InstanceId) -> Option<Record>;
    fn list(filter: Filter) -> Vec<Record>;
    fn journal(instance: &'a InstanceId, from: u64) -> Vec<Entry>;
    fn request_cancel(instance: &'a InstanceId) -> Option<bool>;
    fn delete(instance: &'a InstanceId) -> bool;
    fn forget(before: Time, limit: usize) -> usize;
    fn import(state: State, activation: Option<String>) -> ();
    fn tasks() -> Vec<Task>;
}

asks! { ErrandStore:
    fn add(errands: Vec<Errand>) -> ();
    fn take_from(parts: Parts, now: Time, until: Time, limit: usize) -> Vec<Held>;
    fn renew(holds: &'a [Held], until: Time) -> Vec<String>;
    fn release(held: &'a Held, release: Release) -> ();
    fn done(held: &'a Held) -> bool;
    fn bury(held: &'a Held, error: &'a str, now: Time) -> ();
    fn next_due() -> Option<Time>;
}

asks! { StimulusStore:
    fn send(sending: Sending) -> Sent;
    fn redirect(held: &'a Held, now: Time, expires: Time) -> ();
    fn fire(now: Time, limit: usize) -> usize;
    fn timers(limit: usize) -> Vec<Timer>;
    fn waiting() -> Vec<WaitingStimulus>;
    fn purge(now: Time, forget: Time) -> usize;
    fn dead_letters() -> Vec<DeadLetter>;
    fn replay(id: &'a str, again: &'a str, now: Time, expires: Time) -> bool;
}

asks! { DefinitionStore:
    fn put(new: NewVersion) -> VersionRow;
    fn resolve(handle: &'a DefinitionHandle) -> Option<VersionRow>;
    fn versions(definition: Option<&'a DefinitionId>) -> Vec<VersionRow>;
    fn retract(definition: &'a DefinitionId) -> bool;
    fn index(version: &'a VersionId, triggers: Vec<TriggerRow>) -> usize;
    fn triggers(definition: &'a DefinitionId) -> Vec<TriggerRow>;
}

asks! { JobStore:
    fn take_jobs(now: Time, until: Time, limit: usize) -> Vec<TakenJob>;
    fn renew_jobs(jobs: &'a [TakenJob], until: Time) -> Vec<String>;
    fn release_jobs(jobs: &'a [TakenJob], now: Time) -> ();
    fn finish_job(job: &'a TakenJob, result: Values, now: Time) -> bool;
}

asks! { NodeStore:
    fn beat(node: NodeRow) -> ();
    fn nodes() -> Vec<NodeRow>;
    fn forget_nodes(before: Time) -> usize;
    fn parts(first: u32) -> u32;
    fn to_be_ended(instances: &'a [InstanceId]) -> Vec<InstanceId>;
}
