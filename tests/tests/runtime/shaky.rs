//! A store that fails, loses answers or keeps somebody waiting, when a test has told it so.

use crate::support::{Gate, fresh_store, soon};
use lockwork::flow::{Entry, State, Task};
use lockwork::runtime::{Store, store::*};
use lockwork::workflow::{
    Answer, DefinitionHandle, DefinitionId, Error, ErrorKind, InstanceId, Time, Values, VersionId,
};
use lockwork_conformance::StorePlace;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::sync::watch;

/// What becomes of a commit.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// It counts, as usual.
    None,
    /// It counts, and nobody is told so.
    AnswerLost,
    /// It does not count, and nobody knows.
    RequestLost,
    /// It counts, and whoever made it hears nothing until the gate is open.
    Stalls(Gate),
}

/// A store, with troubles on the way to it.
#[derive(Debug)]
pub(crate) struct Shaky {
    store: Arc<dyn Store>,
    commits: Mutex<VecDeque<Trouble>>,
    /// How many results of jobs are still to be lost.
    finishes: watch::Sender<usize>,
    asked: AtomicUsize,
    away: AtomicBool,
    _place: StorePlace,
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store does not answer")
}

impl Shaky {
    /// One whose next commits end like this; those after them are usual.
    pub(crate) async fn new(commits: impl IntoIterator<Item = Trouble> + Send) -> Arc<Self> {
        let (store, place) = fresh_store().await;
        let shaky = Self {
            store,
            commits: Mutex::default(),
            finishes: watch::Sender::default(),
            asked: AtomicUsize::default(),
            away: AtomicBool::default(),
            _place: place,
        };
        shaky.next(commits);
        Arc::new(shaky)
    }

    pub(crate) fn next(&self, commits: impl IntoIterator<Item = Trouble>) {
        let mut script = self.commits.lock().expect("no test panics here");
        script.extend(commits);
    }

    /// So many results of jobs are not written down.
    pub(crate) fn lose_results(&self, count: usize) {
        self.finishes.send_replace(count);
    }

    /// Ends when they are lost.
    pub(crate) async fn results_lost(&self) {
        let mut left = self.finishes.subscribe();
        let lost = left.wait_for(|left| *left == 0);
        soon(async { lost.await.map(drop) })
            .await
            .expect("the sender is here");
    }

    /// How often somebody wanted to know when the next thing is due.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Acquire)
    }

    /// Whether nodes can say that they live, and find work.
    pub(crate) fn is_away(&self, away: bool) {
        self.away.store(away, Ordering::Release);
    }

    fn there<T: Send + 'static>(&self) -> Result<(), Answer<'static, T>> {
        match self.away.load(Ordering::Acquire) {
            true => Err(Box::pin(std::future::ready(Err(unavailable())))),
            false => Ok(()),
        }
    }

    fn loses_result(&self) -> bool {
        self.finishes.send_if_modified(|left| {
            let loses = *left > 0;
            *left -= usize::from(loses);
            loses
        })
    }

    fn trouble(&self) -> Trouble {
        let mut script = self.commits.lock().expect("no test panics here");
        script.pop_front().unwrap_or(Trouble::None)
    }
}

impl InstanceStore for Shaky {
    fn create(&self, new: NewInstance) -> Answer<'_, Creation> {
        self.store.create(new)
    }

    fn claim<'a>(&'a self, instance: &'a InstanceId, id: &'a str) -> Answer<'a, Option<Claimed>> {
        self.store.claim(instance, id)
    }

    fn commit(&self, commit: Commit) -> Answer<'_, Committed> {
        Box::pin(async move {
            match self.trouble() {
                Trouble::None => self.store.commit(commit).await,
                Trouble::AnswerLost => {
                    self.store.commit(commit).await?;
                    Err(unavailable())
                }
                Trouble::RequestLost => Err(unavailable()),
                Trouble::Stalls(gate) => {
                    let committed = self.store.commit(commit).await;
                    gate.pass().await.expect("the gate opens");
                    committed
                }
            }
        })
    }

    fn load<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<Record>> {
        self.store.load(instance)
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Record>> {
        self.store.list(filter)
    }

    fn journal<'a>(&'a self, instance: &'a InstanceId, from: u64) -> Answer<'a, Vec<Entry>> {
        self.store.journal(instance, from)
    }

    fn request_cancel<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<bool>> {
        self.store.request_cancel(instance)
    }

    fn delete<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, bool> {
        self.store.delete(instance)
    }

    fn forget(&self, before: Time, limit: usize) -> Answer<'_, usize> {
        self.store.forget(before, limit)
    }

    fn import(&self, state: State, activation: Option<String>) -> Answer<'_, ()> {
        self.store.import(state, activation)
    }

    fn tasks(&self) -> Answer<'_, Vec<Task>> {
        self.store.tasks()
    }
}

impl ErrandStore for Shaky {
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()> {
        self.store.add(errands)
    }

    fn take_from(
        &self,
        parts: Parts,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Answer<'_, Vec<Held>> {
        match self.there() {
            Ok(()) => self.store.take_from(parts, now, until, limit),
            Err(away) => away,
        }
    }

    fn renew<'a>(&'a self, holds: &'a [Held], until: Time) -> Answer<'a, Vec<String>> {
        self.store.renew(holds, until)
    }

    fn release<'a>(&'a self, held: &'a Held, release: Release) -> Answer<'a, ()> {
        self.store.release(held, release)
    }

    fn done<'a>(&'a self, held: &'a Held) -> Answer<'a, bool> {
        self.store.done(held)
    }

    fn bury<'a>(&'a self, held: &'a Held, error: &'a str, now: Time) -> Answer<'a, ()> {
        self.store.bury(held, error, now)
    }

    fn next_due(&self) -> Answer<'_, Option<Time>> {
        self.asked.fetch_add(1, Ordering::AcqRel);
        self.store.next_due()
    }

    fn rung(&self) -> Rung<'_> {
        self.store.rung()
    }
}

impl StimulusStore for Shaky {
    fn send(&self, sending: Sending) -> Answer<'_, Sent> {
        self.store.send(sending)
    }

    fn redirect<'a>(&'a self, held: &'a Held, now: Time, expires: Time) -> Answer<'a, ()> {
        self.store.redirect(held, now, expires)
    }

    fn fire(&self, now: Time, limit: usize) -> Answer<'_, usize> {
        self.store.fire(now, limit)
    }

    fn timers(&self, limit: usize) -> Answer<'_, Vec<Timer>> {
        self.store.timers(limit)
    }

    fn waiting(&self) -> Answer<'_, Vec<WaitingStimulus>> {
        self.store.waiting()
    }

    fn purge(&self, now: Time, forget: Time) -> Answer<'_, usize> {
        self.store.purge(now, forget)
    }

    fn dead_letters(&self) -> Answer<'_, Vec<DeadLetter>> {
        self.store.dead_letters()
    }

    fn replay<'a>(
        &'a self,
        id: &'a str,
        again: &'a str,
        now: Time,
        expires: Time,
    ) -> Answer<'a, bool> {
        self.store.replay(id, again, now, expires)
    }
}

impl DefinitionStore for Shaky {
    fn put(&self, new: NewVersion) -> Answer<'_, VersionRow> {
        self.store.put(new)
    }

    fn resolve<'a>(&'a self, handle: &'a DefinitionHandle) -> Answer<'a, Option<VersionRow>> {
        self.store.resolve(handle)
    }

    fn versions<'a>(&'a self, definition: Option<&'a DefinitionId>) -> Answer<'a, Vec<VersionRow>> {
        self.store.versions(definition)
    }

    fn retract<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, bool> {
        self.store.retract(definition)
    }

    fn index<'a>(&'a self, version: &'a VersionId, triggers: Vec<TriggerRow>) -> Answer<'a, usize> {
        self.store.index(version, triggers)
    }

    fn triggers<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, Vec<TriggerRow>> {
        self.store.triggers(definition)
    }
}

impl JobStore for Shaky {
    fn take_jobs(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<TakenJob>> {
        self.store.take_jobs(now, until, limit)
    }

    fn renew_jobs<'a>(&'a self, jobs: &'a [TakenJob], until: Time) -> Answer<'a, Vec<String>> {
        self.store.renew_jobs(jobs, until)
    }

    fn release_jobs<'a>(&'a self, jobs: &'a [TakenJob], now: Time) -> Answer<'a, ()> {
        self.store.release_jobs(jobs, now)
    }

    fn finish_job<'a>(&'a self, job: &'a TakenJob, result: Values, now: Time) -> Answer<'a, bool> {
        match self.loses_result() {
            true => Box::pin(std::future::ready(Err(unavailable()))),
            false => self.store.finish_job(job, result, now),
        }
    }
}

impl NodeStore for Shaky {
    fn beat(&self, node: NodeRow) -> Answer<'_, ()> {
        match self.there() {
            Ok(()) => self.store.beat(node),
            Err(away) => away,
        }
    }

    fn nodes(&self) -> Answer<'_, Vec<NodeRow>> {
        self.store.nodes()
    }

    fn forget_nodes(&self, before: Time) -> Answer<'_, usize> {
        self.store.forget_nodes(before)
    }

    fn parts(&self, first: u32) -> Answer<'_, u32> {
        self.store.parts(first)
    }

    fn to_be_ended<'a>(&'a self, instances: &'a [InstanceId]) -> Answer<'a, Vec<InstanceId>> {
        self.store.to_be_ended(instances)
    }
}
