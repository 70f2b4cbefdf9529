//! Long work, done outside of the instance.

use super::timers::plain;
use crate::{
    activity::{Activity, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::Cx,
    definition::{Length, Node},
};
use lockwork_core::workflow::{Failure, Value, Values};

/// The name of the stimulus by which work that is done resumes whoever waits for it.
pub(crate) const JOB: &str = "Job";

/// Where an activity goes on when its work is done.
const DONE: &str = "done";

/// Work that the program has registered.
#[derive(Debug)]
pub(super) struct JobActivity;

const WORK: [Given; 2] = [
    Given::new("name", "under which the program has registered it")
        .required()
        .fixed()
        .shown(),
    Given::new("args", "what it is given"),
];

impl Activity for JobActivity {
    fn describe(&self) -> Descriptor {
        let about = "Has long work of the program done in the background, while the instance is free for others.";
        Descriptor::new("Job", about)
            .given(&WORK)
            .gives("what the work gives")
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(work(cx))
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        ready(over(cx, input))
    }
}

fn work(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let (name, args) = (cx.required_text("name")?, cx.value("args")?);
    cx.job(&name, args.unwrap_or_default(), DONE)?;
    Ok(Step::Wait)
}

/// Asks a server.
#[derive(Debug)]
pub(super) struct HttpRequest;

const HTTP: [Given; 5] = [
    Given::new("url", "where: http or https").required(),
    Given::new("method", "GET, if nothing is said"),
    Given::new("headers", "an object of texts"),
    Given::new("body", "a text as it is, anything else as JSON"),
    Given::new(
        "timeout",
        "how long to wait for the answer; 30s, if nothing is said",
    ),
];

impl Activity for HttpRequest {
    fn describe(&self) -> Descriptor {
        Descriptor::new("HttpRequest", "Asks a server by HTTP, in the background.")
            .given(&HTTP)
            .gives("`status`, `headers` and `body`")
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        plain::<Length>(node, "timeout").map(drop)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(given(cx, "http", &HTTP))
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        ready(over(cx, input))
    }
}

/// Runs a command of the machine.
#[derive(Debug)]
pub(super) struct Shell;

const SHELL: [Given; 4] = [
    Given::new("command", "the program").required(),
    Given::new("args", "a list of texts"),
    Given::new("input", "what it reads"),
    Given::new("timeout", "how long it may run; 1m, if nothing is said"),
];

impl Activity for Shell {
    fn describe(&self) -> Descriptor {
        let about = "Runs a program of the machine in the background, where the node allows it.";
        Descriptor::new("Shell", about)
            .given(&SHELL)
            .gives("`code`, `output` and `errors`")
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        plain::<Length>(node, "timeout").map(drop)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(given(cx, "shell", &SHELL))
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        ready(over(cx, input))
    }
}

/// Work of this `kind`, which is given what the activity is given.
fn given(cx: &mut Cx<'_>, kind: &str, inputs: &[Given]) -> Result<Step, Failure> {
    let mut with = Values::new();
    for input in inputs {
        if let Some(value) = cx.value(input.name)? {
            with.insert(input.name.to_owned(), value);
        }
    }
    cx.job(kind, Value::Object(with), DONE)?;
    Ok(Step::Wait)
}

/// The work is done, or failed.
fn over(cx: &mut Cx<'_>, mut input: Values) -> Result<Step, Failure> {
    if let Some(failure) = input.remove("failure") {
        let unread = |_| Failure::new("job", "the work failed, and its failure cannot be read");
        return Err(serde_json::from_value(failure).unwrap_or_else(unread));
    }
    cx.give(input.remove("result").unwrap_or_default());
    Ok(Step::done())
}
