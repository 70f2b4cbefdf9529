//! Telling instances that something happened.

use super::{Answered, pages::Paging};
use crate::{
    problem::Problem,
    state::Node,
    take::{Asked, Body, Named, object},
};
use axum::{Json, extract::State};
use lockwork_core::workflow::{Addressee, InstanceId, Ran, Stimulus, StimulusHash, Value, Values};
use lockwork_flow::{EVENT, TASK, Task, delivered};
use lockwork_runtime::Reached as Told;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a stimulus has done.
#[derive(Debug, Serialize)]
pub(crate) struct Reached {
    started: Vec<Ran>,
    resumed: Vec<Ran>,
    /// How many could not be reached now, and will be.
    later: usize,
    queued: bool,
    duplicate: bool,
}

impl From<Told> for Reached {
    fn from(told: Told) -> Self {
        Self {
            started: told.started,
            resumed: told.resumed,
            later: told.later,
            queued: told.queued,
            duplicate: told.duplicate,
        }
    }
}

async fn tell(node: &Node, stimulus: Stimulus) -> Answered<Reached> {
    let told = node.runtime().sender().send(stimulus).await?;
    Ok(Json(told.into()))
}

/// An event, and for whom.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventSent {
    #[serde(default)]
    payload: Option<Value>,
    #[serde(default)]
    instance: Option<InstanceId>,
    #[serde(default)]
    correlation: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

pub(crate) async fn event(
    State(node): State<Node>,
    Named(name): Named<String>,
    Body(sent): Body<EventSent>,
) -> Answered<Reached> {
    let mut to = Addressee::default();
    to.instance = sent.instance;
    to.correlation = sent.correlation;
    let mut stimulus = Stimulus::new(EVENT, &json!({ "name": name }))?.to(to);
    stimulus.key = sent.key;
    tell(&node, stimulus.input(delivered(sent.payload))).await
}

/// A stimulus, by name and payload or by its hash.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StimulusSent {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    hash: Option<StimulusHash>,
    #[serde(default, deserialize_with = "object")]
    to: Addressee,
    #[serde(default)]
    input: Values,
    #[serde(default)]
    key: Option<String>,
}

pub(crate) async fn send(
    State(node): State<Node>,
    Body(sent): Body<StimulusSent>,
) -> Answered<Reached> {
    let mut stimulus = match (sent.name, sent.hash) {
        (Some(name), None) => Stimulus::new(&name, &sent.payload)?,
        (None, Some(hash)) => Stimulus::by_hash(hash),
        _ => {
            return Err(Problem::invalid(
                "a stimulus has a `name`, with a `payload` perhaps, or a `hash`",
            ));
        }
    };
    stimulus.key = sent.key;
    tell(&node, stimulus.to(sent.to).input(sent.input)).await
}

#[derive(Debug, Serialize)]
pub(crate) struct Tasks {
    tasks: Vec<Task>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(crate) async fn tasks(
    State(node): State<Node>,
    Asked(asked): Asked<Paging>,
) -> Answered<Tasks> {
    let all = node.runtime().store().tasks().await?;
    let (tasks, next) = asked.of(all, |task| (task.id.clone(), task.instance.clone()))?;
    Ok(Json(Tasks { tasks, next }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskDone {
    #[serde(default)]
    result: Value,
}

pub(crate) async fn task_done(
    State(node): State<Node>,
    Named(task): Named<String>,
    Body(done): Body<TaskDone>,
) -> Answered<Reached> {
    // Of several who say so, one counts.
    let stimulus = Stimulus::new(TASK, &json!({ "task": task }))?.key(format!("task/{task}"));
    tell(&node, stimulus.input(delivered(Some(done.result)))).await
}
