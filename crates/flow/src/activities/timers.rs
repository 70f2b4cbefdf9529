//! Waiting for a time.

use crate::{
    activity::{Activity, Descriptor, Doing, Given, Schedule, Step, Trigger, Wrong, done, ready},
    burst::{Cx, Waiting},
    cron::Cron,
    definition::{Input, Length, Node},
    moment,
};
use lockwork_core::workflow::{Failure, Time, Value};
use serde_json::json;

/// Waits so long.
#[derive(Debug)]
pub(super) struct Delay;

const DELAY: [Given; 1] = [Given::new("for", "how long: 250ms, 90s, 1h30m or 2d").required()];

impl Activity for Delay {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Delay", "Waits for a while.").given(&DELAY)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        plain::<Length>(node, "for").map(drop)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(wait_for(cx, "Delay", "for"))
    }
}

/// Waits so long, or starts instances as often.
#[derive(Debug)]
pub(super) struct Timer;

const TIMER: [Given; 1] = [Given::new("every", "how long: 250ms, 90s, 1h30m or 2d").required()];

impl Activity for Timer {
    fn describe(&self) -> Descriptor {
        Descriptor::new(
            "Timer",
            "Waits for a while, or starts instances again and again.",
        )
        .given(&TIMER)
        .can_start()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        match plain::<Length>(node, "every")? {
            Some(every) if every.as_duration().is_zero() => {
                Err(Wrong::new("with.every", "no time at all is too often"))
            }
            _ => Ok(()),
        }
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        let every: Length = known(node, "every")?;
        Ok(Some(Trigger {
            name: "Timer".to_owned(),
            payload: json!({ "every": every }),
            schedule: Some(Schedule::Every(every)),
        }))
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        match cx.triggered() {
            Some(_) => done(),
            None => ready(wait_for(cx, "Timer", "every")),
        }
    }
}

/// Waits until a moment.
#[derive(Debug)]
pub(super) struct StartAt;

const START_AT: [Given; 1] = [Given::new(
    "at",
    "when: 2027-01-31T09:00:00Z, or milliseconds since 1970",
)
.required()];

impl Activity for StartAt {
    fn describe(&self) -> Descriptor {
        let about = "Waits until a moment, or starts an instance then. If that has passed, it does not wait.";
        Descriptor::new("StartAt", about)
            .given(&START_AT)
            .can_start()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        match node.with.get("at") {
            Some(Input::Value(at)) => moment::read(at)
                .map(drop)
                .map_err(|message| Wrong::new("with.at", message)),
            _ => Ok(()),
        }
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        let at = match node.with.get("at") {
            Some(Input::Value(at)) => moment::read(at),
            _ => Err("a moment that starts an instance is known beforehand".to_owned()),
        };
        let at = at.map_err(|message| Wrong::new("with.at", message))?;
        Ok(Some(Trigger {
            name: "StartAt".to_owned(),
            payload: json!({ "at": at }),
            schedule: Some(Schedule::At(at)),
        }))
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        match cx.triggered() {
            Some(_) => done(),
            None => ready(wait_until(cx)),
        }
    }
}

fn wait_until(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let at = cx.value("at")?.unwrap_or_default();
    let at = moment::read(&at).map_err(|message| Failure::new("input.type", message))?;
    let now = cx.now();
    until(cx, "StartAt", at, now)
}

/// Waits until a clock shows something.
#[derive(Debug)]
pub(super) struct CronTimer;

const CRON: [Given; 2] = [
    Given::new(
        "at",
        "minute hour day month weekday, and seconds before if there are six",
    )
    .required(),
    Given::new(
        "zone",
        "of the clock: Europe/Berlin, say; UTC, if nothing is said",
    ),
];

impl Activity for CronTimer {
    fn describe(&self) -> Descriptor {
        let about = "Waits until a clock shows something, or starts an instance whenever it does.";
        Descriptor::new("Cron", about).given(&CRON).can_start()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        match (node.with.get("at"), node.with.get("zone")) {
            (Some(Input::Value(_)), None | Some(Input::Value(_))) => cron_of(node).map(drop),
            _ => Ok(()),
        }
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        let cron = cron_of(node)?;
        Ok(Some(Trigger {
            name: "Cron".to_owned(),
            payload: json!({ "at": cron.source(), "zone": cron.zone() }),
            schedule: Some(Schedule::Cron(cron)),
        }))
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        match cx.triggered() {
            Some(_) => done(),
            None => ready(wait_for_clock(cx)),
        }
    }
}

fn cron_of(node: &Node) -> Result<Cron, Wrong> {
    let text = |name: &str| match node.with.get(name) {
        Some(Input::Value(Value::String(text))) => Ok(Some(text.as_str())),
        None => Ok(None),
        Some(_) => Err(Wrong::new(
            format!("with.{name}"),
            "this is a text, known beforehand",
        )),
    };
    let at = text("at")?.unwrap_or_default();
    Cron::new(at, text("zone")?).map_err(|message| Wrong::new("with.at", message))
}

fn wait_for_clock(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let (at, zone) = (cx.required_text("at")?, cx.text("zone")?);
    let cron = Cron::new(&at, zone.as_deref());
    let cron = cron.map_err(|message| Failure::new("input.type", message))?;
    let never = || Failure::new("cron.never", format!("`{at}` never comes"));
    let now = cx.now();
    let next = cron.after(now).ok_or_else(never)?;
    until(cx, "Cron", next, now)
}

fn wait_for(cx: &mut Cx<'_>, name: &str, field: &str) -> Result<Step, Failure> {
    let length = cx.required_text(field)?.parse::<Length>();
    let length = length.map_err(|error| Failure::new("input.type", error.to_string()))?;
    let now = cx.now();
    until(cx, name, now.after(length.as_duration()), now)
}

/// Waits until `due`, unless that is over. `now` is what `due` was reckoned from: a clock that is read once more may be
/// past it already, and then a journal would depend on how busy the machine is.
fn until(cx: &mut Cx<'_>, name: &str, due: Time, now: Time) -> Result<Step, Failure> {
    if due <= now {
        return Ok(Step::done());
    }
    cx.wait(Waiting::until(name, due))?;
    Ok(Step::Wait)
}

/// A plain value that has to be a `T`; nothing, if it is an expression.
pub(super) fn plain<T: std::str::FromStr<Err: std::fmt::Display>>(
    node: &Node,
    name: &str,
) -> Result<Option<T>, Wrong> {
    let wrong = |message: String| Wrong::new(format!("with.{name}"), message);
    match node.with.get(name) {
        Some(Input::Value(Value::String(text))) => text
            .parse()
            .map(Some)
            .map_err(|error: T::Err| wrong(error.to_string())),
        Some(Input::Value(_)) => Err(wrong("this is a text".to_owned())),
        _ => Ok(None),
    }
}

/// The same, which has to be known beforehand.
fn known<T: std::str::FromStr<Err: std::fmt::Display>>(
    node: &Node,
    name: &str,
) -> Result<T, Wrong> {
    let message = "what starts instances is known beforehand: write a plain value";
    plain(node, name)?.ok_or_else(|| Wrong::new(format!("with.{name}"), message))
}
