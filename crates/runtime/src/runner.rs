//! Runs one burst: a turn, a claim, steps, a commit.

use crate::{
    bursts::{Bursts, Running},
    clock::Clock,
    definitions::Definitions,
    events::{Event, Events},
    hands::{Hands, Kept},
    ids,
    options::HOLD,
    queue::Signal,
    store::{Claim, Claimed, Commit, Committed, Errand, ErrandKind, Held, NewJob, Store},
    turns::{Turn, Turns},
};
use lockwork_core::workflow::{
    Bookmark, BookmarkId, DefinitionHandle, Delivery, Error, ErrorKind, InstanceId, Ran, Result,
    Run, Status, SubStatus, Time, VersionId,
};
use lockwork_flow::{Burst, Commit as Often, Effect, Outside, Progress, State, Told, Written};
use std::{collections::BTreeSet, sync::Arc};

/// Runs bursts.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) definitions: Arc<Definitions>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) turns: Arc<dyn Turns>,
    pub(crate) bursts: Bursts,
    pub(crate) events: Events,
    pub(crate) hands: Arc<Hands>,
    pub(crate) signal: Signal,
}

/// What to do with an instance.
#[derive(Debug)]
enum Wish {
    Run(Run),
    Cancel,
}

impl Runner {
    /// Runs an instance until it waits or is over. Once begun, it goes on to its end even if nobody waits for the
    /// answer.
    pub(crate) async fn run(
        self: &Arc<Self>,
        instance: &InstanceId,
        run: Run,
        held: Option<Held>,
    ) -> Result<Ran> {
        self.bursts.check_open()?;
        self.shielded(instance, Wish::Run(run), held).await
    }

    /// The same, of an instance that was just created for it. If this node takes no work since, it stops before the first
    /// step, and others go on.
    pub(crate) async fn run_new(
        self: &Arc<Self>,
        instance: &InstanceId,
        run: Run,
        held: Option<Held>,
    ) -> Result<Ran> {
        self.shielded(instance, Wish::Run(run), held).await
    }

    /// Ends an instance on which nobody works.
    pub(crate) async fn cancel(
        self: &Arc<Self>,
        instance: &InstanceId,
        held: Option<Held>,
    ) -> Result<Ran> {
        self.shielded(instance, Wish::Cancel, held).await
    }

    async fn shielded(
        self: &Arc<Self>,
        instance: &InstanceId,
        wish: Wish,
        held: Option<Held>,
    ) -> Result<Ran> {
        let (runner, instance) = (Arc::clone(self), instance.clone());
        // Also while it waits for its turn: it would be handed to somebody else otherwise.
        let held = held.map(|held| self.hands.keep(held));
        let burst = tokio::spawn(async move {
            let turn = runner.turns.take(&instance).await?;
            let running = runner.bursts.begin(&instance).await?;
            runner.burst(wish, held, turn, &running).await
        });
        burst.await.unwrap_or_else(|panic| {
            let message = "an activity panicked: report it to its author";
            Err(Error::new(ErrorKind::Unexpected, message).because(panic))
        })
    }

    async fn burst(
        &self,
        wish: Wish,
        held: Option<Kept>,
        turn: Arc<dyn Turn>,
        running: &Running<'_>,
    ) -> Result<Ran> {
        let claimed = self.store.claim(running.instance(), &ids::random()).await?;
        let claimed = claimed.ok_or_else(|| missing(running.instance()))?;
        let graph = self.definitions.graph(&claimed.state.version).await?;
        let often = graph.definition().options.commit;
        let outside = Arc::new(Node {
            clock: Arc::clone(&self.clock),
            definitions: Arc::clone(&self.definitions),
            epoch: claimed.claim.epoch,
            turn: Arc::clone(&turn),
        });
        let burst = Burst::new(graph, State::clone(&claimed.state), outside)?;
        let wish = if claimed.cancel { Wish::Cancel } else { wish };
        let mut going = Going {
            burst,
            book: Book::new(self, claimed, held),
            often,
        };
        let delivery = match wish {
            Wish::Cancel => going.end(),
            Wish::Run(run) => going.burst.begin(run)?,
        };
        if delivery != Delivery::Done {
            return Ok(ran(&going.book.state, delivery));
        }
        going.steps(running, &*turn).await?;
        let Book { state, cancel, .. } = going.close().await?;
        // Whoever asked for the end until now was told that it comes.
        let ends = running.leave() || cancel;
        match ends && state.sub_status.status() == Status::Running {
            true => Box::pin(self.burst(Wish::Cancel, None, turn, running)).await,
            false => Ok(ran(&state, delivery)),
        }
    }
}

/// A burst under way.
struct Going<'r> {
    burst: Burst,
    book: Book<'r>,
    often: Often,
}

impl<'r> Going<'r> {
    /// Ends the instance instead of running it.
    fn end(&mut self) -> Delivery {
        if self.burst.state().sub_status.status() == Status::Finished {
            return Delivery::Over;
        }
        self.burst.cancel_all();
        Delivery::Done
    }

    /// Until it waits or is over, or this node is about to end.
    async fn steps(&mut self, running: &Running<'_>, turn: &dyn Turn) -> Result<()> {
        let mut lost = turn.lost();
        loop {
            if self.book.cancel || running.is_cancelled() {
                self.burst.cancel_all();
            } else if self.book.runner.bursts.is_closed() && !self.burst.state().queue.is_empty() {
                self.burst.interrupt();
                return Ok(());
            }
            // A commit is not dropped half way: it is judged by its claim.
            let progress = tokio::select! {
                biased;
                () = &mut lost => return Err(lost_turn(running.instance())),
                progress = self.burst.step() => progress?,
            };
            match progress {
                Progress::Idle => return Ok(()),
                Progress::More if self.often == Often::Step => self.commit().await?,
                Progress::More => {}
            }
        }
    }

    /// Writes down what became of the burst since the last time, and goes on. If this node cannot, another has to.
    async fn commit(&mut self) -> Result<()> {
        let written = self.burst.take();
        let state = Arc::new(self.burst.state().clone());
        self.book.write(written, state, Next::GoOn).await
    }

    /// Writes down the rest. What is left to be done is for whoever comes.
    async fn close(mut self) -> Result<Book<'r>> {
        let written = self.burst.take();
        let state = Arc::new(self.burst.into_state());
        self.book.write(written, state, Next::Leave).await?;
        Ok(self.book)
    }
}

/// Who goes on after a commit.
#[derive(Clone, Copy)]
enum Next {
    /// This burst.
    GoOn,
    /// Whoever comes.
    Leave,
}

/// What was written of a burst.
struct Book<'r> {
    runner: &'r Runner,
    claim: Claim,
    /// What was known at the last commit.
    state: Arc<State>,
    /// The errand that is done with the next commit.
    held: Option<Kept>,
    cancel: bool,
}

impl<'r> Book<'r> {
    fn new(runner: &'r Runner, claimed: Claimed, held: Option<Kept>) -> Self {
        Self {
            runner,
            claim: claimed.claim,
            state: claimed.state,
            held,
            cancel: claimed.cancel,
        }
    }

    async fn write(&mut self, written: Written, state: Arc<State>, next: Next) -> Result<()> {
        let commit = self.everything(written, Arc::clone(&state), next);
        let committed = self.settled(commit).await?;
        self.state = state;
        self.claim.version = committed.version;
        self.cancel = committed.cancel;
        self.held = committed.continues.map(|held| self.runner.hands.keep(held));
        self.runner.signal.ring();
        Ok(())
    }

    /// All that changes at once. What is left to be done becomes an errand: for this burst, if it goes on, and for whoever
    /// comes otherwise.
    fn everything(&self, written: Written, state: Arc<State>, next: Next) -> Commit {
        let now = self.runner.clock.now();
        let (added, removed) = difference(self.state.waiting(), state.waiting());
        let left = matches!(
            state.sub_status,
            SubStatus::Executing | SubStatus::Interrupted
        );
        let rest = left.then(|| continuation(&self.claim, now));
        let (errands, continues) = match next {
            Next::GoOn => (None, rest.map(|errand| (errand, now.after(HOLD)))),
            Next::Leave => (rest, None),
        };
        let mut commit = Commit {
            claim: self.claim.clone(),
            consumes: self.held.as_ref().map(|kept| kept.held().clone()),
            errands: errands.into_iter().collect(),
            jobs: Vec::new(),
            tasks: Vec::new(),
            journal: written.journal,
            continues,
            added,
            removed,
            state,
            now,
        };
        for effect in written.effects {
            if is_wanted(&effect, commit.state.waiting()) {
                add(effect, &mut commit);
            }
        }
        commit
    }

    /// A commit of which nobody knows whether it counts is looked for, under a new claim: it has landed by then, or
    /// never can.
    async fn settled(&mut self, commit: Commit) -> Result<Committed> {
        let told = Telling::of(&self.runner.events, &commit);
        let version = commit.claim.version;
        let committed = match self.runner.store.commit(commit).await {
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                let again = self
                    .runner
                    .store
                    .claim(&self.claim.instance, &ids::random())
                    .await?;
                let again = again.ok_or_else(|| missing(&self.claim.instance))?;
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

fn ran(state: &State, delivery: Delivery) -> Ran {
    let mut ran = Ran::new(state.instance.clone(), delivery, state.sub_status);
    ran.bookmarks = state.waiting().to_vec();
    ran.incidents.clone_from(&state.incidents);
    ran.output.clone_from(&state.output);
    ran
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

pub(crate) fn missing(instance: &InstanceId) -> Error {
    let message = "there is no such instance: check its id, or create it";
    Error::new(ErrorKind::NotFound, message).with("instance", instance)
}

fn lost_turn(instance: &InstanceId) -> Error {
    let message =
        "the lock of this instance was lost while it ran: nothing more of this burst counts";
    Error::new(ErrorKind::Fenced, message).with("instance", instance)
}

/// What a burst on this node is told.
#[derive(Debug)]
struct Node {
    clock: Arc<dyn Clock>,
    definitions: Arc<Definitions>,
    turn: Arc<dyn Turn>,
    epoch: u64,
}

impl Outside for Node {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn version<'a>(&'a self, handle: &'a DefinitionHandle) -> Told<'a, Result<VersionId>> {
        Box::pin(async move { Ok(self.definitions.resolve(handle).await?.id) })
    }

    fn lost(&self) -> Told<'static, ()> {
        self.turn.lost()
    }

    fn fence(&self) -> Option<u64> {
        self.turn.token().or(Some(self.epoch))
    }
}
