//! Runs one burst: a turn, a claim, steps, a commit.

use crate::{
    book::{Book, Next, lost_turn},
    bursts::{Bursts, Running},
    clock::Clock,
    contention::Contention,
    definitions::Definitions,
    events::Events,
    hands::{Hands, Kept},
    ids,
    queue::{Doors, Signal},
    spans,
    store::{Claimed, Held, Release, Store},
    turns::{Turn, Turns},
};
use lockwork_core::workflow::{
    DefinitionHandle, Delivery, Error, ErrorKind, InstanceId, Ran, Result, Run, Status, SubStatus,
    Target, Time, VersionId,
};
use lockwork_flow::{Burst, Commit as Often, Outside, Progress, State, Told};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tracing::Instrument;

/// Runs bursts.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) definitions: Arc<Definitions>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) turns: Arc<dyn Turns>,
    pub(crate) doors: Arc<dyn Doors>,
    pub(crate) contention: Contention,
    pub(crate) bursts: Bursts,
    pub(crate) events: Events,
    pub(crate) hands: Arc<Hands>,
    pub(crate) signal: Signal,
    /// How long this node keeps what it was handed, without saying anything.
    pub(crate) hold: Duration,
}

/// What whoever asks for a burst has in hand already.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// The errand that is done by it.
    pub(crate) held: Option<Held>,
    /// The instance, claimed as it was created.
    pub(crate) claimed: Option<Claimed>,
}

impl Begun {
    const fn with(held: Option<Held>) -> Self {
        Self {
            held,
            claimed: None,
        }
    }
}

/// What to do with an instance.
#[derive(Debug)]
enum Wish {
    Run(Run),
    Cancel,
}

impl Runner {
    /// Until when this node has what it is handed or keeps now.
    pub(crate) fn held_until(&self) -> Time {
        self.clock.now().after(self.hold)
    }

    /// Runs an instance until it waits or is over. Once begun, it goes on to its end even if nobody waits for the
    /// answer.
    pub(crate) async fn run(
        self: &Arc<Self>,
        instance: &InstanceId,
        run: Run,
        held: Option<Held>,
    ) -> Result<Ran> {
        self.bursts.check_open()?;
        let begun = Begun::with(held);
        self.shielded(instance, Wish::Run(run), begun).await
    }

    /// The same, of an instance that was just created for it. If this node takes no work since, it stops before the first
    /// step, and others go on.
    pub(crate) async fn run_new(
        self: &Arc<Self>,
        instance: &InstanceId,
        run: Run,
        begun: Begun,
    ) -> Result<Ran> {
        self.shielded(instance, Wish::Run(run), begun).await
    }

    /// Ends an instance on which nobody works.
    pub(crate) async fn cancel(
        self: &Arc<Self>,
        instance: &InstanceId,
        held: Option<Held>,
    ) -> Result<Ran> {
        let begun = Begun::with(held);
        self.shielded(instance, Wish::Cancel, begun).await
    }

    async fn shielded(
        self: &Arc<Self>,
        instance: &InstanceId,
        wish: Wish,
        begun: Begun,
    ) -> Result<Ran> {
        let (runner, instance) = (Arc::clone(self), instance.clone());
        // Also while it waits for its turn: it would be handed to somebody else otherwise.
        let held = begun.held.map(|held| self.hands.keep(held));
        let (claimed, asked) = (begun.claimed, Instant::now());
        let under_way = self.bursts.ask();
        let span = spans::burst(&instance);
        let work = async move {
            let _under_way = under_way;
            let turn = tokio::select! {
                biased;
                turn = runner.turns.take(&instance) => turn?,
                // Whoever has the turn may keep it for longer than this node is there.
                stopping = runner.bursts.closing() => {
                    runner.leave_to_others(held.as_ref()).await;
                    return Err(stopping);
                }
            };
            let running = runner.bursts.begin(&instance).await?;
            // Whoever has waited for long may have been taken for dead.
            let claimed = claimed.filter(|_| asked.elapsed() < runner.hold / 3);
            let claimed = match claimed {
                Some(claimed) => claimed,
                None => runner.claim_under(&*turn, &instance).await?,
            };
            let ran = runner.burst(wish, claimed, held, turn, &running).await;
            ran.inspect_err(spans::failed)
        };
        let burst = tokio::spawn(work.instrument(span));
        burst.await.unwrap_or_else(|panic| {
            let message = "an activity panicked: report it to its author";
            Err(Error::new(ErrorKind::Unexpected, message).because(panic))
        })
    }

    /// What was not begun is for others at once.
    pub(crate) async fn leave_to_others(&self, held: Option<&Kept>) {
        let Some(kept) = held else { return };
        let release = Release {
            due: self.clock.now(),
            counts: false,
            error: None,
        };
        match self.store.release(kept.held(), release).await {
            Ok(()) => self.signal.ring(),
            Err(error) => {
                let errand = &kept.held().errand.id;
                tracing::warn!(errand, %error, "an errand could not be given back: it comes back by itself");
            }
        }
    }

    pub(crate) async fn claim(&self, instance: &InstanceId) -> Result<Claimed> {
        let claimed = self.store.claim(instance, &ids::random()).await?;
        claimed.ok_or_else(|| missing(instance))
    }

    /// The same for whoever may have been frozen since it was given its turn: a claim of his would only fence off
    /// whoever has the next one.
    async fn claim_under(&self, turn: &dyn Turn, instance: &InstanceId) -> Result<Claimed> {
        match turn.is_lost() {
            true => Err(lost_turn(instance).transient(true)),
            false => self.claim(instance).await,
        }
    }

    /// What somebody else has left, then what is asked for, then the end if somebody has asked for that meanwhile.
    async fn burst(
        &self,
        wish: Wish,
        claimed: Claimed,
        held: Option<Kept>,
        turn: Arc<dyn Turn>,
        running: &Running<'_>,
    ) -> Result<Ran> {
        let claimed = match wish.comes_after(&claimed.state) {
            false => claimed,
            true => {
                let rest = Wish::Run(Run::default());
                self.one(rest, claimed, None, &turn, running).await?;
                self.bursts.check_open()?;
                self.claim_under(&*turn, running.instance()).await?
            }
        };
        let (ran, cancel) = self.one(wish, claimed, held, &turn, running).await?;
        // Whoever asked for the end until now was told that it comes.
        let ends = running.leave() || cancel;
        match ends && ran.sub_status.status() == Status::Running {
            true => {
                let claimed = self.claim_under(&*turn, running.instance()).await?;
                let ended = self.one(Wish::Cancel, claimed, None, &turn, running);
                let (mut ended, _) = ended.await?;
                ended.delivery = ran.delivery;
                Ok(ended)
            }
            false => Ok(ran),
        }
    }

    /// From one claim to the last commit under it. Says as well whether somebody wants the end.
    async fn one(
        &self,
        wish: Wish,
        claimed: Claimed,
        held: Option<Kept>,
        turn: &Arc<dyn Turn>,
        running: &Running<'_>,
    ) -> Result<(Ran, bool)> {
        spans::claimed(&claimed.state.version, claimed.claim.epoch);
        let graph = self.definitions.graph(&claimed.state.version).await?;
        let often = graph.definition().options.commit;
        let outside = Arc::new(Node {
            clock: Arc::clone(&self.clock),
            definitions: Arc::clone(&self.definitions),
            epoch: claimed.claim.epoch,
            turn: Arc::clone(turn),
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
            return Ok((ran(&going.book.state, delivery), going.book.cancel));
        }
        going.steps(running, &**turn).await?;
        let Book { state, cancel, .. } = going.close().await?;
        Ok((ran(&state, delivery), cancel))
    }
}

impl Wish {
    /// Whether somebody has begun a burst of the instance, committed a part of it, and died: the rest of that comes first,
    /// so that everything happens in the order in which it would have.
    fn comes_after(&self, state: &State) -> bool {
        let half_way = matches!(
            state.sub_status,
            SubStatus::Executing | SubStatus::Interrupted
        );
        half_way && matches!(self, Self::Run(run) if run.target != Target::Continue)
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
                () = &mut lost => return Err(self.book.lost().await),
                progress = self.burst.step() => match progress {
                    Err(_) if turn.is_lost() => return Err(self.book.lost().await),
                    progress => progress?,
                },
            };
            match progress {
                Progress::Idle => return Ok(()),
                // What is left then is to say that it waits, or is over: one commit has both.
                Progress::More if self.burst.state().queue.is_empty() => {}
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

fn ran(state: &State, delivery: Delivery) -> Ran {
    let mut ran = Ran::new(state.instance.clone(), delivery, state.sub_status);
    ran.bookmarks = state.waiting().to_vec();
    ran.incidents.clone_from(&state.incidents);
    ran.output.clone_from(&state.output);
    ran
}

pub(crate) fn missing(instance: &InstanceId) -> Error {
    let message = "there is no such instance: check its id, or create it";
    Error::new(ErrorKind::NotFound, message).with("instance", instance)
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

    fn is_lost(&self) -> bool {
        self.turn.is_lost()
    }

    fn fence(&self) -> Option<u64> {
        self.turn.token().or(Some(self.epoch))
    }
}
