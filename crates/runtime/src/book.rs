//! What is written down of a burst: everything at once, under the claim that it was begun with.

use crate::{
    events::{Event, Events},
    hands::Kept,
    ids,
    runner::Runner,
    store::{Claim, Claimed, Commit, Committed, Errand, ErrandKind, NewJob},
};
use lockwork_core::workflow::{
    Bookmark, BookmarkId, Error, ErrorKind, InstanceId, Result, Run, Status, SubStatus, Time,
};
use lockwork_flow::{Effect, State, Written};
use std::{collections::BTreeSet, sync::Arc};

/// Who goes on after a commit.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// This burst.
    GoOn,
    /// Whoever comes.
    Leave,
}

/// What was written of a burst.
pub(crate) struct Book<'r> {
    pub(crate) runner: &'r Runner,
    claim: Claim,
    /// What was known at the last commit.
    pub(crate) state: Arc<State>,
    /// The errand that is done with the next commit.
    held: Option<Kept>,
    /// Whether somebody wants the instance to end.
    pub(crate) cancel: bool,
}

impl<'r> Book<'r> {
    pub(crate) fn new(runner: &'r Runner, claimed: Claimed, held: Option<Kept>) -> Self {
        Self {
            runner,
            claim: claimed.claim,
            state: claimed.state,
            held,
            cancel: claimed.cancel,
        }
    }

    pub(crate) async fn write(
        &mut self,
        written: Written,
        state: Arc<State>,
        next: Next,
    ) -> Result<()> {
        let commit = self.everything(written, Arc::clone(&state), next);
        let (rings, stays) = (self.may_ask_for_something(&commit), commit.stays);
        let committed = self.settled(commit).await?;
        self.state = state;
        self.claim.version = committed.version;
        self.cancel = committed.cancel;
        if !stays {
            self.held = committed.continues.map(|held| self.runner.hands.keep(held));
        }
        if rings {
            self.runner.signal.ring();
        }
        Ok(())
    }

    /// Whether somebody may have something to do after it: what it asks for, or a stimulus that has waited for a bookmark
    /// that is new, is free again, or has another correlation now. Looking in vain costs as much as a commit.
    fn may_ask_for_something(&self, commit: &Commit) -> bool {
        let over = commit.state.sub_status.status() == Status::Finished;
        let frees = commit.consumes.as_ref();
        let frees =
            frees.is_some_and(|held| matches!(held.errand.kind, ErrandKind::Deliver { .. }));
        let moves = commit.state.correlation != self.state.correlation;
        let offers = !over && (frees || moves || !commit.added.is_empty());
        offers || !commit.errands.is_empty() || !commit.jobs.is_empty()
    }

    /// All that changes at once. What is left to be done becomes an errand, unless the one this burst has says so already:
    /// for this burst, if it goes on, and for whoever comes otherwise.
    fn everything(&self, written: Written, state: Arc<State>, next: Next) -> Commit {
        let now = self.runner.clock.now();
        let (added, removed) = difference(self.state.waiting(), state.waiting());
        let left = matches!(
            state.sub_status,
            SubStatus::Executing | SubStatus::Interrupted
        );
        let stays = left && matches!(next, Next::GoOn) && self.is_the_rest();
        let rest = (left && !stays).then(|| continuation(&self.claim, now));
        let (errands, continues) = match next {
            Next::GoOn => (
                None,
                rest.map(|errand| (errand, now.after(self.runner.hold))),
            ),
            Next::Leave => (rest, None),
        };
        let mut commit = Commit {
            consumes: self.held.as_ref().map(|kept| kept.held().clone()),
            errands: errands.into_iter().collect(),
            journal: written.journal,
            stays,
            continues,
            added,
            removed,
            ..Commit::new(self.claim.clone(), state, now)
        };
        for effect in written.effects {
            if is_wanted(&effect, commit.state.waiting()) {
                add(effect, &mut commit);
            }
        }
        commit
    }

    /// Whether the errand of this burst is to run the instance on from wherever it is.
    fn is_the_rest(&self) -> bool {
        let kind = self.held.as_ref().map(|kept| &kept.held().errand.kind);
        matches!(kind, Some(ErrandKind::Run { run, .. }) if *run == Run::default())
    }

    /// The turn was lost. Whoever comes first goes on at once, unless somebody has begun already: then that one does.
    pub(crate) async fn lost(&mut self) -> Error {
        let (store, instance) = (&self.runner.store, &self.claim.instance);
        let is_last = match store.load(instance).await {
            Ok(record) => record.is_some_and(|record| record.epoch == self.claim.epoch),
            // Nobody can say. If somebody has begun, the next burst finds out.
            Err(_) => true,
        };
        let held = self.held.take_if(|_| is_last);
        self.runner.leave_to_others(held.as_ref()).await;
        lost_turn(instance).transient(is_last)
    }

    /// A commit of which nobody knows whether it counts is looked for, under a new claim: it has landed by then, or
    /// never can.
    async fn settled(&mut self, commit: Commit) -> Result<Committed> {
        let told = Telling::of(&self.runner.events, &commit);
        let version = commit.claim.version;
        let committed = match self.runner.store.commit(commit).await {
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                let again = self.runner.claim(&self.claim.instance).await?;
                let landed = again.claim.version == version + 1
                    && again.committed_by.as_deref() == Some(&self.claim.id);
                if !landed {
                    return Err(error);
                }
                self.claim = again.claim;
                Committed {
                    version: version + 1,
                    cancel: again.cancel,
                    continues: None,
                }
            }
            other => other?,
        };
        told.tell(&self.runner.events);
        Ok(committed)
    }
}

/// What observers are told once a commit counts.
struct Telling(Vec<Event>);

impl Telling {
    fn of(events: &Events, commit: &Commit) -> Self {
        if !events.is_heard() {
            return Self(Vec::new());
        }
        let committed = Event::Committed {
            instance: commit.claim.instance.clone(),
            sub_status: commit.state.sub_status,
            journal: commit.journal.as_slice().into(),
        };
        let tasks = commit
            .tasks
            .iter()
            .map(|(_, task)| Event::Task(task.clone()));
        Self(std::iter::once(committed).chain(tasks).collect())
    }

    fn tell(self, events: &Events) {
        self.0.into_iter().for_each(|event| events.tell(event));
    }
}

/// What has to be done if this burst does not go on.
fn continuation(claim: &Claim, now: Time) -> Errand {
    Errand {
        id: format!(
            "continue/{}/{}/{}",
            claim.instance, claim.epoch, claim.version
        ),
        kind: ErrandKind::Run {
            instance: claim.instance.clone(),
            run: Run::default(),
        },
        due: now,
    }
}

/// Whether somebody still waits for it: what was called off in the burst that asked for it is not even begun.
fn is_wanted(effect: &Effect, waiting: &[Bookmark]) -> bool {
    match effect {
        Effect::Job { bookmark, .. } | Effect::Task { bookmark, .. } => {
            waiting.iter().any(|one| one.id == *bookmark)
        }
        Effect::Send(_) | Effect::Dispatch { .. } | Effect::Cancel(_) => true,
    }
}

fn add(effect: Effect, commit: &mut Commit) {
    let due = commit.now;
    let errand = |id: String, kind| Errand { id, kind, due };
    match effect {
        Effect::Send(mut stimulus) => {
            // The errand is done once: a key besides would also stop an instance that is created again under its id.
            let id = stimulus.key.take().unwrap_or_else(ids::random);
            commit
                .errands
                .push(errand(format!("send/{id}"), ErrandKind::Send(stimulus)));
        }
        Effect::Dispatch { instance, create } => {
            let run = Run::default();
            let id = format!("start/{instance}");
            commit.errands.push(errand(
                id,
                ErrandKind::Start {
                    instance,
                    create,
                    run,
                },
            ));
        }
        Effect::Cancel(instance) => {
            let id = format!("cancel/{instance}");
            commit
                .errands
                .push(errand(id, ErrandKind::Cancel(instance)));
        }
        Effect::Job { bookmark, job } => commit.jobs.push(NewJob { bookmark, job }),
        Effect::Task { bookmark, task } => commit.tasks.push((bookmark, task)),
    }
}

/// What is new, and what is gone.
fn difference(before: &[Bookmark], after: &[Bookmark]) -> (Vec<Bookmark>, Vec<BookmarkId>) {
    let ids = |bookmarks| -> BTreeSet<&BookmarkId> {
        let bookmarks: &[Bookmark] = bookmarks;
        bookmarks.iter().map(|bookmark| &bookmark.id).collect()
    };
    let (old, new) = (ids(before), ids(after));
    let added = after.iter().filter(|bookmark| !old.contains(&bookmark.id));
    let removed = old.difference(&new).copied().cloned();
    (added.cloned().collect(), removed.collect())
}

/// Transient, if nobody else has claimed the instance since.
pub(crate) fn lost_turn(instance: &InstanceId) -> Error {
    let message =
        "the lock of this instance was lost while it ran: nothing more of this burst counts";
    Error::new(ErrorKind::Fenced, message).with("instance", instance)
}
