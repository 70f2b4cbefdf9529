//! What can be done with one instance, on this node.

use crate::{
    activation,
    bursts::Asked,
    events::Event,
    ids,
    runner::{Begun, Runner, missing},
    store::{Claimed, Creation, Errand, ErrandKind, Held, NewInstance},
};
use lockwork_core::workflow::{
    Answer, Cancelled, Client, Create, CreateAndRun, Created, DefinitionHandle, Error, ErrorKind,
    InstanceId, Ran, Result, Run, SubStatus, Time, Value, VersionId,
};
use lockwork_flow::{Definition, State, check_input, shown};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tracing::Instrument;

/// What can be done with one instance, on this node.
#[derive(Clone, Debug)]
pub struct LocalClient {
    instance: InstanceId,
    runner: Arc<Runner>,
}

/// An instance as it is given out. What is secret is not in it.
#[derive(Debug, Serialize, Deserialize)]
struct Export {
    lockwork: u32,
    state: Value,
}

const EXPORT: u32 = 1;

/// How long somebody who wants an instance ended waits for another node that runs it.
const SOON: std::time::Duration = std::time::Duration::from_secs(1);

impl LocalClient {
    pub(crate) const fn new(instance: InstanceId, runner: Arc<Runner>) -> Self {
        Self { instance, runner }
    }

    /// Creates it; what has to be done with it is held by whoever asked.
    pub(crate) async fn create_with(
        &self,
        request: Create,
        run: Option<Run>,
        consumes: Option<Held>,
    ) -> Result<(Created, Begun)> {
        let new = self.new_instance(request, run, consumes).await?;
        let (version, claimed) = (new.state.version.clone(), Claimed::created(&new));
        let creation = self.runner.store.create(new).await?;
        let version = match &creation {
            Creation::SameKey(first) => self.version_of(first).await?.unwrap_or(version),
            _ => version,
        };
        self.created(creation, version, claimed)
    }

    /// Creates it, and lets it run behind the back of whoever asked.
    pub(crate) async fn begin(&self, request: CreateAndRun) -> Result<Created> {
        self.runner.bursts.check_open()?;
        let CreateAndRun { create, run, .. } = request;
        let client = self.clone();
        let under_way = self.runner.bursts.ask();
        shielded(async move {
            let made = client.create_with(create, Some(run.clone()), None).await;
            made.map(|(created, begun)| {
                if created.is_new {
                    tokio::spawn(client.run_behind(run, begun, under_way));
                }
                created
            })
        })
        .await
    }

    /// A node that ends waits for it.
    async fn run_behind(self, run: Run, begun: Begun, _under_way: Asked) {
        if let Err(error) = self.runner.run_new(&self.instance, run, begun).await {
            tracing::warn!(instance = %self.instance, %error, "an instance did not get on: it is tried again");
        }
    }

    async fn version_of(&self, instance: &InstanceId) -> Result<Option<VersionId>> {
        let record = self.runner.store.load(instance).await?;
        Ok(record.map(|record| record.state.version.clone()))
    }

    async fn new_instance(
        &self,
        request: Create,
        run: Option<Run>,
        consumes: Option<Held>,
    ) -> Result<NewInstance> {
        check_input(&request.input)?;
        let row = self.runner.definitions.resolve(&request.definition).await?;
        check_required(&row.definition, &request)?;
        let now = self.runner.clock.now();
        let mut state = State::new(self.instance.clone(), row.id, now);
        let activation = activation::key(&row.definition, request.correlation.as_deref())?;
        state.input = request.input;
        state.correlation = request.correlation;
        state.name = request.name;
        state.parent = request.parent;
        // Whatever an errand was to start may have to end at once: that is known by whoever claims it.
        let claims = run.is_some() && consumes.is_none();
        let errand = run.map(|run| {
            let kind = ErrandKind::Run {
                instance: self.instance.clone(),
                run,
            };
            let id = format!("run/{}", self.instance);
            (Errand { id, kind, due: now }, now.after(self.runner.hold))
        });
        Ok(NewInstance {
            state,
            activation,
            key: request.key,
            errand,
            consumes,
            claim: claims.then(ids::random),
        })
    }

    fn created(
        &self,
        creation: Creation,
        version: VersionId,
        claimed: Option<Claimed>,
    ) -> Result<(Created, Begun)> {
        match creation {
            Creation::New(held) => {
                let instance = self.instance.clone();
                self.runner.events.tell(Event::Created(instance.clone()));
                let held = held.map(|held| *held);
                let created = Created::new(instance, version, true);
                Ok((created, Begun { held, claimed }))
            }
            Creation::SameKey(instance) => {
                Ok((Created::new(instance, version, false), Begun::default()))
            }
            Creation::Exists => {
                let message = "there is an instance with this id already";
                Err(Error::new(ErrorKind::Conflict, message).with("instance", &self.instance))
            }
            Creation::Refused(running) => {
                let message = "another instance of this workflow runs, and one only may";
                Err(Error::new(ErrorKind::Conflict, message).with("running", running))
            }
        }
    }

    async fn state(&self) -> Result<Arc<State>> {
        let record = self.runner.store.load(&self.instance).await?;
        Ok(record.ok_or_else(|| missing(&self.instance))?.state)
    }

    async fn ran_before(&self, instance: InstanceId) -> Result<Ran> {
        let other = Self::new(instance, Arc::clone(&self.runner));
        other.run(Run::default()).await
    }

    async fn end(self) -> Result<Cancelled> {
        match self.runner.store.request_cancel(&self.instance).await? {
            None => Err(missing(&self.instance)),
            Some(true) => Ok(Cancelled::Over),
            Some(false) if self.runner.bursts.cancel(&self.instance) => self.insist().await,
            Some(false) => {
                let end = self.runner.cancel(&self.instance, None);
                match tokio::time::timeout(SOON, end).await {
                    Ok(Ok(_)) => Ok(Cancelled::Done),
                    // Whoever has it sees what was asked for.
                    Err(_) => self.insist().await,
                    Ok(Err(error)) if is_elsewhere(&error) => self.insist().await,
                    Ok(Err(error)) => Err(error),
                }
            }
        }
    }

    /// Whoever works on the instance ends it with its next step; and should that never come, because its node dies or was
    /// about to let go, then whoever finds this.
    async fn insist(&self) -> Result<Cancelled> {
        let errand = Errand {
            id: format!("cancel/{}", self.instance),
            kind: ErrandKind::Cancel(self.instance.clone()),
            due: self.runner.clock.now().after(SOON),
        };
        self.runner.store.add(vec![errand]).await?;
        self.runner.signal.ring();
        Ok(Cancelled::Requested)
    }

    async fn remove(&self) -> Result<bool> {
        // A burst under way ends with its next step; what it commits after this is refused.
        self.runner.bursts.cancel(&self.instance);
        let _turn = self.runner.turns.take(&self.instance).await?;
        self.runner.store.delete(&self.instance).await
    }

    async fn give_out(&self) -> Result<Value> {
        let state = self.state().await?;
        let graph = self.runner.definitions.graph(&state.version).await?;
        let json = serde_json::to_value(shown(&graph, &state)).map_err(unreadable)?;
        let export = Export {
            lockwork: EXPORT,
            state: json,
        };
        serde_json::to_value(export).map_err(unreadable)
    }

    async fn take_in(&self, export: Value) -> Result<()> {
        // First: what is newer may look like nothing we know.
        let format = export.get("lockwork").and_then(Value::as_u64);
        if let Some(format) = format.filter(|format| *format > EXPORT.into()) {
            let message =
                "this export was written by a newer version of lockwork: update this node";
            return Err(Error::new(ErrorKind::Unsupported, message).with("format", format));
        }
        let export: Export = serde_json::from_value(export).map_err(|error| {
            let message = format!("this is no export of an instance: {error}");
            Error::new(ErrorKind::Invalid, message)
        })?;
        let mut state = State::from_value(export.state)?;
        state.instance = self.instance.clone();
        let handle = DefinitionHandle::Version(state.version.clone());
        let row = self.runner.definitions.resolve(&handle).await?;
        let activation = activation::key(&row.definition, state.correlation.as_deref())?;
        let half_way = matches!(
            state.sub_status,
            SubStatus::Executing | SubStatus::Interrupted
        );
        if !half_way {
            return self.runner.store.import(state, activation).await;
        }
        // Whoever comes first goes on with what was taken in half way; should this node die before it has said so, then
        // whoever comes when the hold is over.
        let now = self.runner.clock.now();
        self.go_on(now.after(self.runner.hold)).await?;
        self.runner.store.import(state, activation).await?;
        self.go_on(now).await
    }

    async fn go_on(&self, due: Time) -> Result<()> {
        let errand = Errand {
            id: format!("import/{}", ids::random()),
            kind: ErrandKind::Run {
                instance: self.instance.clone(),
                run: Run::default(),
            },
            due,
        };
        self.runner.store.add(vec![errand]).await?;
        self.runner.signal.ring();
        Ok(())
    }
}

/// Whether somebody has the instance, or this node is about to end.
fn is_elsewhere(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Busy | ErrorKind::Fenced | ErrorKind::Stopping
    )
}

/// Does something to its end, whoever waits for it: whoever goes away while the store answers would leave what was begun
/// in nobody's hands.
async fn shielded<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let done = tokio::spawn(work.in_current_span()).await;
    done.unwrap_or_else(|panic| Err(panicked(panic)))
}

/// A task that talks to the store for somebody who may go away has ended so.
pub(crate) fn panicked(panic: tokio::task::JoinError) -> Error {
    Error::new(ErrorKind::Unexpected, "the store panicked: report it").because(panic)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Unexpected, "a state is no JSON: report it").because(error)
}

fn check_required(definition: &Definition, request: &Create) -> Result<()> {
    let missing = definition
        .inputs
        .iter()
        .find(|one| one.required && !request.input.contains_key(&one.name));
    match missing {
        None => Ok(()),
        Some(missing) => {
            let message = "an instance of this workflow is not created without this input";
            Err(Error::new(ErrorKind::Invalid, message)
                .with("definition", &definition.id)
                .with("input", &missing.name))
        }
    }
}

impl Client for LocalClient {
    fn id(&self) -> &InstanceId {
        &self.instance
    }

    fn create(&self, request: Create) -> Answer<'_, Created> {
        Box::pin(async move { Ok(self.create_with(request, None, None).await?.0) })
    }

    fn run(&self, request: Run) -> Answer<'_, Ran> {
        Box::pin(async move {
            check_input(&request.input)?;
            self.runner.run(&self.instance, request, None).await
        })
    }

    fn create_and_run(&self, request: CreateAndRun) -> Answer<'_, Ran> {
        Box::pin(async move {
            self.runner.bursts.check_open()?;
            let (client, under_way) = (self.clone(), self.runner.bursts.ask());
            shielded(async move {
                let _under_way = under_way;
                let run = request.run;
                let made = client.create_with(request.create, Some(run.clone()), None);
                let (created, begun) = made.await?;
                match created.is_new {
                    true => client.runner.run_new(&client.instance, run, begun).await,
                    false => client.ran_before(created.instance).await,
                }
            })
            .await
        })
    }

    fn cancel(&self) -> Answer<'_, Cancelled> {
        Box::pin(shielded(self.clone().end()))
    }

    fn delete(&self) -> Answer<'_, bool> {
        Box::pin(self.remove())
    }

    fn export(&self) -> Answer<'_, Value> {
        Box::pin(self.give_out())
    }

    fn import(&self, export: Value) -> Answer<'_, ()> {
        let client = self.clone();
        Box::pin(shielded(async move { client.take_in(export).await }))
    }

    fn exists(&self) -> Answer<'_, bool> {
        Box::pin(async move { Ok(self.runner.store.load(&self.instance).await?.is_some()) })
    }
}
