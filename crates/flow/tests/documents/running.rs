//! Instances of the examples, run without a runtime: nothing in them waits for anything but a bookmark.

use lockwork_core::workflow::{
    DefinitionHandle, Failure, InstanceId, Run, SubStatus, Target, Time, Value, Values, VersionId,
};
use lockwork_flow::{
    Burst, Definition, Effect, Graph, Outside, Progress, Registry, Result, State, Told,
};
use serde_json::json;
use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// The activities, with the functions that the examples call.
pub(crate) fn registry() -> Registry {
    Registry::standard()
        .code("charge", |call| async move {
            match call.args["amount"].as_i64() {
                Some(amount) if amount > 0 => Ok(json!({ "paid": amount })),
                _ => Err(Failure::new("card.refused", "the card was refused")),
            }
        })
        .code("refund", |_| async { Ok(Value::Null) })
}

pub(crate) struct Instance {
    burst: Burst,
}

impl Instance {
    /// Runs until it waits or is over.
    pub(crate) fn new(definition: Definition, input: Value) -> Self {
        let version = VersionId::new("1").unwrap();
        let graph = Graph::new(definition, version.clone(), &registry()).unwrap();
        let mut state = State::new(InstanceId::new("i").unwrap(), version, Time::from_millis(0));
        state.input = object(input);
        let burst = Burst::new(Arc::new(graph), state, Arc::new(Still)).unwrap();
        let mut instance = Self { burst };
        instance.run(Run::at(Target::Continue));
        instance
    }

    /// Resumes what waits for a stimulus of this name.
    pub(crate) fn resume(&mut self, name: &str, input: Value) {
        let mut waiting = self.burst.state().waiting().iter();
        let bookmark = waiting.find(|one| one.name == name).expect(name).id.clone();
        self.run(Run::at(Target::Bookmark(bookmark)).input(object(input)));
    }

    /// What it gives, once it is over.
    pub(crate) fn output(&self) -> Value {
        let state = self.burst.state();
        assert_eq!(
            state.sub_status,
            SubStatus::Finished,
            "{:?}",
            state.incidents
        );
        Value::Object(state.output.clone())
    }

    /// The instances it has asked for, with what they are given.
    pub(crate) fn dispatched(&mut self) -> Vec<(InstanceId, Value)> {
        let effects = self.burst.take().effects.into_iter();
        let dispatched = effects.filter_map(|effect| match effect {
            Effect::Dispatch { instance, create } => Some((instance, Value::Object(create.input))),
            _ => None,
        });
        dispatched.collect()
    }

    fn run(&mut self, run: Run) {
        self.burst.begin(run).unwrap();
        while at_once(self.burst.step()).unwrap() == Progress::More {}
    }
}

fn object(json: Value) -> Values {
    serde_json::from_value(json).unwrap()
}

fn at_once<T>(doing: impl Future<Output = T>) -> T {
    match pin!(doing).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("nothing in the examples waits for anything but a bookmark"),
    }
}

/// Where time stands still and everything has one version.
#[derive(Debug)]
struct Still;

impl Outside for Still {
    fn now(&self) -> Time {
        Time::from_millis(0)
    }

    fn version<'a>(&'a self, _: &'a DefinitionHandle) -> Told<'a, Result<VersionId>> {
        Box::pin(std::future::ready(VersionId::new("1")))
    }
}
