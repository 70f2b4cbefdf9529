//! Nothing begins once the turn of the instance is over, not even within one step.

use crate::support::{Clock, Instance, block_on, definition};
use lockwork_core::workflow::{ErrorKind, Run, Target, Values};
use lockwork_flow::{
    Activity, Child, Contains, Cx, Descriptor, Doing, Progress, Registry, Step, Waiting, ready,
};
use serde_json::json;
use std::sync::{Arc, Mutex, OnceLock};

/// Has what is inside done, and then waits to be resumed. Notes each call.
#[derive(Clone, Debug, Default)]
struct Noting(Arc<Mutex<Vec<&'static str>>>);

impl Noting {
    fn note(&self, call: &'static str) {
        self.0.lock().unwrap().push(call);
    }

    fn calls(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

impl Activity for Noting {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Noting", "Notes each call.").contains(Contains::List)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        self.note("execute");
        cx.schedule(0);
        ready(Ok(Step::Wait))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        self.note("child_done");
        let waits = cx.wait(Waiting::on("more", json!(null)).at("more"));
        ready(waits.map(|_| Step::Wait))
    }

    fn resume<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a str, _: Values) -> Doing<'a> {
        self.note("resume");
        ready(Ok(Step::done()))
    }
}

/// Works for so long that the turn is over by the end, if it has the clock of one.
#[derive(Clone, Debug, Default)]
struct Long(Arc<OnceLock<Arc<Clock>>>);

impl Activity for Long {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Long", "Works for long.")
    }

    fn execute<'a>(&'a self, _: &'a mut Cx<'_>) -> Doing<'a> {
        if let Some(clock) = self.0.get() {
            clock.lose();
        }
        ready(Ok(Step::done()))
    }
}

fn instance(noting: &Noting, long: &Long) -> Instance {
    let registry = Registry::standard().with(noting.clone()).with(long.clone());
    let inside = json!({ "type": "Long", "id": "long" });
    let root = json!({ "type": "Noting", "id": "noting", "do": [inside] });
    Instance::with(definition(root), &registry)
}

/// Runs until nothing more may begin.
fn is_fenced(instance: &Instance, run: Run) {
    let mut burst = instance.burst();
    burst.begin(run).unwrap();
    let error = loop {
        match block_on(burst.step()) {
            Ok(Progress::More) => {}
            Ok(Progress::Idle) => panic!("it went on to the end"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
}

#[test]
fn nothing_is_executed_once_the_turn_is_over() {
    let noting = Noting::default();
    let instance = instance(&noting, &Long::default());
    instance.clock.lose();
    is_fenced(&instance, Run::default());
    assert_eq!(noting.calls(), [""; 0]);
}

#[test]
fn nobody_is_told_what_an_activity_did_that_was_longer_than_the_turn() {
    let (noting, long) = (Noting::default(), Long::default());
    let instance = instance(&noting, &long);
    long.0.set(Arc::clone(&instance.clock)).unwrap();
    is_fenced(&instance, Run::default());
    assert_eq!(noting.calls(), ["execute"]);
}

#[test]
fn nothing_is_resumed_once_the_turn_is_over() {
    let noting = Noting::default();
    let mut instance = instance(&noting, &Long::default());
    instance.go(Run::default());
    let bookmark = instance.state.waiting()[0].id.clone();
    instance.clock.lose();
    is_fenced(&instance, Run::at(Target::Bookmark(bookmark)));
    assert_eq!(noting.calls(), ["execute", "child_done"]);
}

/// It is run again from its last commit, and not faulted.
#[test]
fn a_burst_ends_undone_if_nobody_can_say_what_a_child_is() {
    let root =
        json!({ "type": "ExecuteWorkflow", "id": "child", "with": { "definition": "away" } });
    let instance = Instance::with(definition(root), &Registry::standard());
    let mut burst = instance.burst();
    burst.begin(Run::default()).unwrap();
    let error = block_on(burst.step()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_transient());
    assert!(burst.state().incidents.is_empty());
}
