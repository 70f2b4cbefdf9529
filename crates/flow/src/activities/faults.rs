//! Failing on purpose, and helping those who failed.

use crate::{
    activity::{Activity, Contains, Descriptor, Doing, Given, Step, ready},
    burst::Cx,
    definition::Node,
    signal::{Answer, Signal},
};
use lockwork_core::workflow::{Failure, Value, Values};
use serde_json::json;

/// A failure.
#[derive(Debug)]
pub(super) struct Fault;

const FAULT: [Given; 2] = [
    Given::new(
        "code",
        "by what handlers know it; `fault`, if nothing is said",
    ),
    Given::new("message", "for people"),
];

impl Activity for Fault {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Fault", "Fails.").given(&FAULT)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(fault(cx))
    }
}

fn fault(cx: &Cx<'_>) -> Result<Step, Failure> {
    let code = cx.shown_text("code")?.unwrap_or_else(|| "fault".to_owned());
    let message = cx.shown_text("message")?.unwrap_or_default();
    Err(Failure::new(code, message))
}

/// Something that may fail, and what to do then.
#[derive(Debug)]
pub(super) struct Try;

const TRY: [Given; 1] = [Given::new(
    "codes",
    "the failures it helps with; all, if nothing is said",
)];

impl Activity for Try {
    fn describe(&self) -> Descriptor {
        let about = "Runs `body`. If something in it fails, that is ended and `catch` is run, in which `error` is \
                     known, with its `code` and `message`.";
        Descriptor::new("Try", about)
            .given(&TRY)
            .contains(Contains::Ports {
                required: &["body", "catch"],
                optional: &[],
            })
    }

    fn names(&self, _: &Node, port: Option<&str>) -> Vec<String> {
        match port {
            Some("catch") => vec!["error".to_owned()],
            _ => Vec::new(),
        }
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        if let Some(body) = cx.port("body") {
            cx.schedule(body);
        }
        ready(Ok(Step::Wait))
    }

    fn signal(&self, cx: &mut Cx<'_>, signal: &Signal) -> Answer {
        let Signal::Failed(failure) = signal else {
            return Answer::Pass;
        };
        let Some(catch) = cx
            .port("catch")
            .filter(|_| cx.data().is_null() && helps(cx, failure))
        else {
            return Answer::Pass;
        };
        let error = json!({ "code": failure.code, "message": failure.message });
        cx.remember(error.clone());
        let scope = Values::from_iter([("error".to_owned(), error)]);
        cx.schedule_with(catch, Value::Null, scope);
        Answer::Handled
    }
}

/// If the codes cannot be evaluated, somebody further out has to help.
fn helps(cx: &Cx<'_>, failure: &Failure) -> bool {
    let Ok(codes) = cx.list("codes") else {
        return false;
    };
    codes.is_empty()
        || codes
            .iter()
            .any(|code| code.as_str() == Some(&failure.code))
}
