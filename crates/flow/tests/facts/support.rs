//! Runs an instance without a runtime: a clock that stands still, an executor that never sleeps, and an instance
//! that keeps what became of it.

use lockwork_core::workflow::{
    Bookmark, DefinitionHandle, Delivery, Error, ErrorKind, ExecutionId, InstanceId, NodeId,
    Result, Run, Stimulus, SubStatus, Target, Time, Value, Values, VersionId,
};
use lockwork_flow::{
    Burst, Definition, EVENT, Effect, Entry, Graph, Happened, Outside, Progress, Registry, State,
    Told,
};
use serde_json::json;
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// Noon of some day.
pub(crate) const NOON: i64 = 1_800_014_400_000;

/// Nothing in this crate waits for anything but what a test gives it, so whoever is not ready never will be.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nobody will ever wake this"),
    }
}

/// A clock that shows what it is told, and knows the definitions `child` and `other`.
#[derive(Debug)]
pub(crate) struct Clock {
    shows: AtomicI64,
    /// By so much it goes on whenever somebody looks at it.
    runs: AtomicI64,
    lost: AtomicBool,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            shows: AtomicI64::new(NOON),
            runs: AtomicI64::new(0),
            lost: AtomicBool::new(false),
        }
    }

    pub(crate) fn set(&self, millis: i64) {
        self.shows.store(millis, Ordering::Relaxed);
    }

    pub(crate) fn run(&self, millis: i64) {
        self.runs.store(millis, Ordering::Relaxed);
    }

    /// Nothing of a burst counts from now on.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }
}

impl Outside for Clock {
    fn now(&self) -> Time {
        let runs = self.runs.load(Ordering::Relaxed);
        Time::from_millis(self.shows.fetch_add(runs, Ordering::Relaxed))
    }

    fn version<'a>(&'a self, handle: &'a DefinitionHandle) -> Told<'a, Result<VersionId>> {
        let version = match handle {
            DefinitionHandle::Of { definition, .. }
                if ["child", "other"].contains(&definition.as_str()) =>
            {
                VersionId::new(&format!("{definition}-1"))
            }
            DefinitionHandle::Of { definition, .. } if definition.as_str() == "away" => {
                Err(Error::new(ErrorKind::Unavailable, "nobody answers"))
            }
            _ => Err(Error::new(
                ErrorKind::NotFound,
                "there is no such definition",
            )),
        };
        Box::pin(std::future::ready(version))
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

/// An instance, with everything that became of it so far.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) graph: Arc<Graph>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) state: State,
    pub(crate) journal: Vec<Entry>,
    pub(crate) effects: Vec<Effect>,
}

impl Instance {
    /// One of which nothing was executed.
    pub(crate) fn new(definition: Value) -> Self {
        Self::with(definition, &Registry::standard())
    }

    /// The same, in a program that has registered more.
    pub(crate) fn with(definition: Value, registry: &Registry) -> Self {
        Self::of(Arc::new(graph(definition, registry).unwrap()))
    }

    /// The same, of a graph that others have too.
    pub(crate) fn of(graph: Arc<Graph>) -> Self {
        let instance = InstanceId::new("i").unwrap();
        let now = Time::from_millis(NOON);
        Self {
            state: State::new(instance, graph.version().clone(), now),
            graph,
            clock: Arc::new(Clock::new()),
            journal: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// One that was run until it waits or is over.
    pub(crate) fn run(definition: Value) -> Self {
        let mut instance = Self::new(definition);
        instance.go(Run::default());
        instance
    }

    pub(crate) fn burst(&self) -> Burst {
        let outside = Arc::clone(&self.clock);
        Burst::new(Arc::clone(&self.graph), self.state.clone(), outside).unwrap()
    }

    /// One burst, to its end.
    pub(crate) fn go(&mut self, run: Run) -> Delivery {
        let mut burst = self.burst();
        let delivery = burst.begin(run).unwrap();
        while block_on(burst.step()).unwrap() == Progress::More {}
        self.keep(burst);
        delivery
    }

    /// What became of the instance in this burst.
    pub(crate) fn keep(&mut self, mut burst: Burst) {
        let written = burst.take();
        self.journal.extend(written.journal);
        self.effects.extend(written.effects);
        self.state = burst.into_state();
    }

    pub(crate) fn resume(&mut self, bookmark: &Bookmark, input: Value) -> Delivery {
        let run = Run::at(Target::Bookmark(bookmark.id.clone()));
        self.go(run.input(values(input)))
    }

    /// The event called `name` happens: whoever waits for it here is resumed.
    pub(crate) fn event(&mut self, name: &str, input: Value) {
        let event = Stimulus::new(EVENT, &json!({ "name": name })).unwrap();
        for bookmark in self.state.waiting().to_vec() {
            if bookmark.hash == event.hash {
                self.resume(&bookmark, input.clone());
            }
        }
    }

    /// It becomes this late, and whatever is due by then is resumed.
    pub(crate) fn wake(&mut self, millis: i64) {
        self.clock.set(millis);
        for bookmark in self.state.waiting().to_vec() {
            if bookmark.due.is_some_and(|due| due.as_millis() <= millis) {
                self.resume(&bookmark, Value::Null);
            }
        }
    }

    pub(crate) fn retry(&mut self, execution: ExecutionId) -> Delivery {
        self.go(Run::at(Target::Retry(execution)))
    }

    /// What it had to say, in this order.
    pub(crate) fn lines(&self) -> Vec<&str> {
        let said = self.journal.iter();
        let said = said.filter(|entry| entry.happened == Happened::Logged);
        said.filter_map(|entry| entry.note.as_deref()).collect()
    }

    /// What happened to the activity with this id, wherever it stands.
    pub(crate) fn happened(&self, id: &str) -> Vec<Happened> {
        let stands = |node: &NodeId| node.as_str().rsplit('/').next() == Some(id);
        let of = self.journal.iter();
        let of = of.filter(|entry| entry.node.as_ref().is_some_and(stands));
        of.map(|entry| entry.happened).collect()
    }

    /// The codes of what failed and was not helped.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let incidents = self.state.incidents.iter();
        incidents
            .map(|incident| incident.failure.code.as_str())
            .collect()
    }

    pub(crate) fn is(&self, sub_status: SubStatus) {
        assert_eq!(self.state.sub_status, sub_status, "{:#?}", self.journal);
    }

    /// It is over, and nothing of it is left.
    pub(crate) fn is_finished(&self) {
        self.is(SubStatus::Finished);
        assert!(self.state.contexts.is_empty(), "{:?}", self.state.contexts);
        assert!(self.state.queue.is_empty(), "{:?}", self.state.queue);
        assert!(self.state.bookmarks.is_empty());
        assert!(self.state.incidents.is_empty());
        assert!(self.state.finished.is_some());
    }
}

fn graph(definition: Value, registry: &Registry) -> Result<Graph> {
    let version = VersionId::new("facts-1").unwrap();
    Graph::new(Definition::from_value(definition)?, version, registry)
}

/// Why this definition is refused.
pub(crate) fn refused(definition: Value) -> Error {
    graph(definition, &Registry::standard()).unwrap_err()
}

/// A definition that begins with `root`.
pub(crate) fn definition(root: Value) -> Value {
    json!({ "lockwork": 1, "id": "facts", "root": root })
}

/// The same, with variables and what they are at first.
pub(crate) fn remembering(variables: Value, root: Value) -> Value {
    let named = values(variables).into_iter();
    let named: Vec<_> = named
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    json!({ "lockwork": 1, "id": "facts", "variables": named, "root": root })
}

/// The same as `definition`, in which other branches go on if one fails.
pub(crate) fn going_on(mut definition: Value) -> Value {
    definition["options"] = json!({ "incidents": "continue" });
    definition
}

pub(crate) fn values(object: Value) -> Values {
    match object {
        Value::Object(fields) => fields,
        _ => Values::new(),
    }
}

/// Says its own id.
pub(crate) fn log(id: &str) -> Value {
    say(id, json!(id))
}

/// Says `text`, which may be an expression.
pub(crate) fn say(id: &str, text: Value) -> Value {
    json!({ "type": "Log", "id": id, "with": { "text": text } })
}

/// Waits for the event that is called as it is.
pub(crate) fn event(id: &str) -> Value {
    json!({ "type": "Event", "id": id, "with": { "name": id } })
}

/// Fails with this code.
pub(crate) fn fault(id: &str, code: &str) -> Value {
    json!({ "type": "Fault", "id": id, "with": { "code": code, "message": "on purpose" } })
}

/// Something that contains a list.
pub(crate) fn list(kind: &str, id: &str, inside: impl Into<Vec<Value>>) -> Value {
    json!({ "type": kind, "id": id, "do": inside.into() })
}

pub(crate) fn sequence(id: &str, inside: impl Into<Vec<Value>>) -> Value {
    list("Sequence", id, inside)
}

pub(crate) fn parallel(id: &str, inside: impl Into<Vec<Value>>) -> Value {
    list("Parallel", id, inside)
}

/// Changes a variable.
pub(crate) fn set(id: &str, name: &str, value: Value) -> Value {
    json!({ "type": "SetVariable", "id": id, "with": { "name": name, "value": value } })
}

/// Adds one to a variable.
pub(crate) fn count(id: &str, name: &str) -> Value {
    set(id, name, expr(&format!("{name} + 1")))
}

/// Ends the loop around.
pub(crate) fn stop(id: &str) -> Value {
    json!({ "type": "Break", "id": id })
}

pub(crate) fn expr(source: &str) -> Value {
    json!({ "$expr": source })
}
