//! Does errands, one by one.

use crate::{
    client::LocalClient,
    events::Event,
    options::Options,
    runner::Runner,
    store::{Errand, ErrandKind, Held, Release, Sending},
};
use lockwork_core::workflow::{
    BookmarkId, Create, Delivery, Error, ErrorKind, InstanceId, Ran, Result, Run, Status, Stimulus,
    Target, Time, Values,
};
use lockwork_flow::{ended, never_began};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

/// How long what failed is left alone, the first time.
const PAUSE: Duration = Duration::from_millis(200);

/// Does errands.
#[derive(Clone, Debug)]
pub(crate) struct Processor {
    pub(crate) runner: Arc<Runner>,
    pub(crate) options: Arc<Options>,
}

/// What became of an errand.
#[derive(Debug)]
pub(crate) enum Did {
    /// An instance was started.
    Started(Ran),
    /// An instance was resumed, or was not because it was too late.
    Resumed(Ran),
    /// An instance was created, and could not be run: that is another errand now, which was given back.
    Later,
    /// Something else, or nothing: nobody needs to know.
    Done,
}

impl Processor {
    /// Does up to `limit` errands that are due. Says how many there were.
    pub(crate) async fn pass(&self, limit: usize) -> Result<usize> {
        if self.runner.bursts.is_closed() {
            return Ok(0);
        }
        let taken = self.find(limit).await?.errands;
        let count = taken.len();
        let mut set = tokio::task::JoinSet::new();
        for held in taken {
            let processor = self.clone();
            set.spawn(async move { processor.attempt(held).await });
        }
        while set.join_next().await.is_some() {}
        Ok(count)
    }

    /// Does an errand; if that fails it is given back, or buried if it has failed too often.
    pub(crate) async fn attempt(&self, held: Held) -> Result<Did> {
        let did = self.errand(&held).await;
        let told = match &did {
            Ok(Did::Later) => Ok(()),
            Ok(_) => {
                self.calm(&held);
                Ok(())
            }
            Err(error) => self.failed(&held, error).await,
        };
        if let Err(worse) = told {
            tracing::warn!(errand = held.errand.id, %worse, "an errand could not be given back: it comes back by itself");
        }
        did
    }

    async fn failed(&self, held: &Held, error: &Error) -> Result<()> {
        let now = self.runner.clock.now();
        // That somebody else is at it, or this node takes no work, says nothing about the errand.
        let counts = !matches!(
            error.kind(),
            ErrorKind::Busy | ErrorKind::Fenced | ErrorKind::Stopping
        );
        if counts && held.attempt >= self.options.attempts && !error.is_transient() {
            let text = error.to_string();
            tracing::error!(
                errand = held.errand.id,
                error = text,
                "an errand failed each time: it is a dead letter now"
            );
            if !self.is_held(held).await? {
                return Ok(());
            }
            self.tell_parent(held, &text, now).await?;
            self.runner.store.bury(held, &text, now).await?;
            self.runner.events.tell(Event::Buried {
                id: held.errand.id.clone(),
                error: text,
            });
            return Ok(());
        }
        let pause = PAUSE.saturating_mul(1 << held.attempt.min(8));
        let due = match error.kind() {
            ErrorKind::Stopping => now,
            // The turn was lost to nobody: whoever comes goes on.
            ErrorKind::Fenced if error.is_transient() => now,
            ErrorKind::Fenced => now.after(self.contended(held).await),
            _ => now.after(pause),
        };
        let error = Some(error.to_string());
        self.runner
            .store
            .release(held, Release { due, counts, error })
            .await
    }

    /// What somebody else has by now is not for this node to bury, nor to tell of.
    async fn is_held(&self, held: &Held) -> Result<bool> {
        let (held, until) = (std::slice::from_ref(held), self.runner.held_until());
        Ok(self.runner.store.renew(held, until).await?.is_empty())
    }

    /// Whoever waits for an instance that is never started would wait for ever.
    async fn tell_parent(&self, held: &Held, why: &str, now: Time) -> Result<()> {
        let ErrandKind::Start {
            instance, create, ..
        } = &held.errand.kind
        else {
            return Ok(());
        };
        let Some(stimulus) = never_started(instance, create, why) else {
            return Ok(());
        };
        let errand = Errand {
            id: format!("never/{instance}"),
            kind: ErrandKind::Send(stimulus),
            due: now,
        };
        self.runner.store.add(vec![errand]).await
    }

    fn errand<'a>(
        &'a self,
        held: &'a Held,
    ) -> Pin<Box<dyn Future<Output = Result<Did>> + Send + 'a>> {
        Box::pin(async move {
            match held.errand.kind.clone() {
                ErrandKind::Send(stimulus) => self.forward(held, stimulus).await,
                ErrandKind::Deliver {
                    instance,
                    bookmark,
                    input,
                    ..
                } => self.deliver(held, &instance, bookmark, input).await,
                ErrandKind::Start {
                    instance,
                    create,
                    run,
                } => self.start(held, instance, create, run).await,
                ErrandKind::Run { instance, run } => self.run(held, &instance, run).await,
                ErrandKind::Cancel(instance) => self.cancel(held, &instance).await,
            }
        })
    }

    /// Tells everybody for whom a stimulus is, and does what follows.
    async fn forward(&self, held: &Held, stimulus: Stimulus) -> Result<Did> {
        let sending = self.sending(held.errand.id.clone(), stimulus, Some(held.clone()));
        let sent = self.runner.store.send(sending).await?;
        let hands = &self.runner.hands;
        let line: Vec<_> = sent
            .errands
            .into_iter()
            .map(|held| hands.keep(held))
            .collect();
        // Each is an errand of its own now: that one fails or waits for its turn does not concern the others.
        let mut all = tokio::task::JoinSet::new();
        for kept in line {
            let processor = self.clone();
            all.spawn(async move { processor.attempt(kept.held().clone()).await });
        }
        while all.join_next().await.is_some() {}
        Ok(Did::Done)
    }

    pub(crate) fn sending(
        &self,
        id: String,
        stimulus: Stimulus,
        consumes: Option<Held>,
    ) -> Sending {
        let now = self.runner.clock.now();
        Sending {
            expires: Some(now.after(self.options.stimulus_waits)),
            hold: now.after(self.runner.hold),
            id,
            stimulus,
            now,
            consumes,
        }
    }

    /// Resumes a bookmark. If somebody else was quicker, the stimulus is kept for another one.
    async fn deliver(
        &self,
        held: &Held,
        instance: &InstanceId,
        bookmark: BookmarkId,
        input: Values,
    ) -> Result<Did> {
        let run = Run::at(Target::Bookmark(bookmark)).input(input);
        let ran = match self.runner.run(instance, run, Some(held.clone())).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return self.gone(held).await,
            other => other?,
        };
        match ran.delivery {
            Delivery::Done => {}
            Delivery::Over => drop(self.runner.store.done(held).await?),
            Delivery::Consumed if is_fleeting(held) => drop(self.runner.store.done(held).await?),
            Delivery::Consumed => {
                let now = self.runner.clock.now();
                let expires = now.after(self.options.stimulus_waits);
                self.runner.store.redirect(held, now, expires).await?;
                self.runner.signal.ring();
            }
        }
        Ok(Did::Resumed(ran))
    }

    /// What it was for was deleted.
    async fn gone(&self, held: &Held) -> Result<Did> {
        self.runner.store.done(held).await?;
        Ok(Did::Done)
    }

    async fn start(
        &self,
        held: &Held,
        instance: InstanceId,
        create: Create,
        run: Run,
    ) -> Result<Did> {
        let client = LocalClient::new(instance.clone(), Arc::clone(&self.runner));
        let created = client
            .create_with(create.clone(), Some(run.clone()), Some(held.clone()))
            .await;
        match created {
            Ok((created, begun)) if created.is_new => {
                let ran = self.runner.run(&instance, run, begun.held.clone()).await;
                match (ran, begun.held) {
                    (Err(error), Some(mine)) => {
                        tracing::debug!(%instance, %error, "an instance was created, and is run later");
                        self.failed(&mine, &error).await?;
                        Ok(Did::Later)
                    }
                    (ran, _) => ran.map(Did::Started),
                }
            }
            Ok(_) => Ok(Did::Done),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.not_started(held, instance, &create, error).await
            }
            Err(error) => Err(error),
        }
    }

    /// It was started before, or another one like it runs.
    async fn not_started(
        &self,
        held: &Held,
        instance: InstanceId,
        create: &Create,
        error: Error,
    ) -> Result<Did> {
        let record = self.runner.store.load(&instance).await?;
        let told = match &record {
            // Whoever waits for an instance that was over before is told now.
            Some(record) if record.state.sub_status.status() == Status::Finished => {
                ended(&record.state)
            }
            Some(_) => None,
            None => never_started(&instance, create, &error.to_string()),
        };
        match told {
            Some(mut stimulus) => {
                stimulus.key = None;
                self.forward(held, stimulus).await?;
            }
            None => drop(self.runner.store.done(held).await?),
        }
        if record.is_none() {
            tracing::info!(%instance, %error, "an instance was not started");
            self.runner.events.tell(Event::NotStarted { instance });
        }
        Ok(Did::Done)
    }

    async fn run(&self, held: &Held, instance: &InstanceId, run: Run) -> Result<Did> {
        let ran = match self.runner.run(instance, run, Some(held.clone())).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return self.gone(held).await,
            other => other?,
        };
        if ran.delivery != Delivery::Done {
            self.runner.store.done(held).await?;
        }
        Ok(Did::Started(ran))
    }

    async fn cancel(&self, held: &Held, instance: &InstanceId) -> Result<Did> {
        match self.runner.store.request_cancel(instance).await? {
            Some(false) => {
                self.runner.bursts.cancel(instance);
                let ran = self.runner.cancel(instance, Some(held.clone())).await?;
                if ran.delivery != Delivery::Done {
                    self.runner.store.done(held).await?;
                }
            }
            Some(true) | None => drop(self.runner.store.done(held).await?),
        }
        Ok(Did::Done)
    }
}

/// Whether what is delivered is for nobody else.
const fn is_fleeting(held: &Held) -> bool {
    match &held.errand.kind {
        ErrandKind::Deliver {
            stimulus: Some(stimulus),
            ..
        } => stimulus.fleeting,
        _ => false,
    }
}

/// What tells whoever waits for an instance that it will never be. A parent may be told that again, if it was made anew.
fn never_started(instance: &InstanceId, create: &Create, why: &str) -> Option<Stimulus> {
    let mut stimulus = never_began(create.parent.as_ref()?, instance, why)?;
    stimulus.key = None;
    Some(stimulus)
}
