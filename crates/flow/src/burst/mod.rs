//! Running an instance, one step after another, until it waits or is over.
//!
//! A step takes one thing off the queue and does what follows from it. Between two steps everything is in the
//! [`State`]: whoever drives the burst can stop there, write it down, and go on elsewhere.

mod begin;
mod cx;
mod ending;
mod fail;
mod hide;
mod inside;
mod size;
mod step;
mod waiting;

pub use cx::Cx;
pub use ending::{ended, never_began};
pub use hide::{HIDDEN, shown};
pub use size::check_input;
pub(crate) use size::{large, weight};
pub use waiting::Waiting;

use crate::{
    effect::Effect,
    graph::{Graph, Vertex},
    journal::{Entry, Happened},
    outside::Outside,
    signal::Signal,
    state::{Context, Number, State},
};
use lockwork_core::workflow::{Error, ErrorKind, ExecutionId, Result, Value};
use std::sync::Arc;

/// Steps in one burst: more is a loop that never waits.
pub const MAX_STEPS: u64 = 100_000;

/// One run of an instance from where it is to where it waits or is over.
///
/// # Cancel safety
/// A [`step`](Self::step) that was dropped half way leaves the burst in between: drop it too, and begin again with
/// the state that was written last.
#[derive(Debug)]
pub struct Burst {
    graph: Arc<Graph>,
    state: State,
    inside: inside::Inside,
    written: Written,
    outside: Arc<dyn Outside>,
    steps: u64,
    /// What the activity that is being executed has to say besides its step.
    said: Said,
}

/// What became of a burst since the last time somebody asked.
#[derive(Debug, Default)]
pub struct Written {
    /// What happened.
    pub journal: Vec<Entry>,
    /// What leaves the instance.
    pub effects: Vec<Effect>,
}

/// What an activity has to say besides its step.
#[derive(Debug, Default)]
struct Said {
    gives: Option<Value>,
    raised: Option<Signal>,
    finish: bool,
    /// Whoever it asked could not be reached. That says nothing about the instance.
    away: Option<Error>,
}

/// Whether there is another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is.
    More,
    /// The instance waits or is over.
    Idle,
}

impl Burst {
    /// A burst of an instance in this `state`, which is one of `graph`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if the state belongs to another version.
    pub fn new(graph: Arc<Graph>, state: State, outside: Arc<dyn Outside>) -> Result<Self> {
        if state.version != *graph.version() {
            let message = "this instance belongs to another version of its definition";
            return Err(Error::new(ErrorKind::Invalid, message)
                .with("instance", &state.instance)
                .with("version", &state.version));
        }
        for context in state.contexts.values() {
            graph.find(&context.node)?;
        }
        Ok(Self {
            graph,
            inside: inside::Inside::of(&state.contexts),
            state,
            written: Written::default(),
            outside,
            steps: 0,
            said: Said::default(),
        })
    }

    /// What is known of the instance now.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// What became of it since the last time somebody asked, to be written down together with its
    /// [state](Self::state).
    pub fn take(&mut self) -> Written {
        std::mem::take(&mut self.written)
    }

    /// Ends the burst.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }

    fn note(&mut self, happened: Happened, number: Option<Number>, note: Option<String>) {
        let context = number.and_then(|number| self.state.contexts.get(&number));
        let entry = Entry {
            sequence: self.state.entries,
            at: self.outside.now(),
            happened,
            node: context.map(|context| context.node.clone()),
            execution: number.map(ExecutionId::numbered),
            note,
        };
        self.state.entries += 1;
        self.written.journal.push(entry);
    }

    fn context(&self, number: Number) -> Result<&Context> {
        let missing = || {
            Error::new(ErrorKind::Unexpected, "an execution is not in the state")
                .with("instance", &self.state.instance)
                .with("execution", number)
        };
        self.state.contexts.get(&number).ok_or_else(missing)
    }

    fn context_mut(&mut self, number: Number) -> Option<&mut Context> {
        self.state.contexts.get_mut(&number)
    }

    /// Which activity this is an execution of.
    fn place(&self, number: Number) -> Result<usize> {
        self.graph.find(&self.context(number)?.node)
    }

    fn vertex(&self, number: Number) -> Result<&Vertex> {
        let place = self.place(number)?;
        let missing = || Error::new(ErrorKind::Unexpected, "a node is not in its graph");
        self.graph.vertex(place).ok_or_else(missing)
    }
}
