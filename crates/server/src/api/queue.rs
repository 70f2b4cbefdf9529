//! What waits, what was not done, and what happens by itself.

use super::{Answered, instances::page};
use crate::{
    state::Node,
    take::{Asked, Named},
};
use axum::{Json, extract::State};
use lockwork_runtime::store::{DeadLetter, Timer, WaitingStimulus};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
pub(crate) struct Queue {
    waiting: Vec<WaitingStimulus>,
}

pub(crate) async fn waiting(State(node): State<Node>) -> Answered<Queue> {
    let waiting = node.runtime().store().waiting().await?;
    Ok(Json(Queue { waiting }))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetters {
    dead_letters: Vec<DeadLetter>,
}

pub(crate) async fn dead(State(node): State<Node>) -> Answered<DeadLetters> {
    let dead_letters = node.runtime().dead_letters().list().await?;
    Ok(Json(DeadLetters { dead_letters }))
}

#[derive(Debug, Serialize)]
pub(crate) struct Replayed {
    id: String,
}

pub(crate) async fn replay(
    State(node): State<Node>,
    Named(id): Named<String>,
) -> Answered<Replayed> {
    let id = node.runtime().dead_letters().replay(&id).await?;
    Ok(Json(Replayed { id }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HowMany {
    limit: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
}

pub(crate) async fn timers(
    State(node): State<Node>,
    Asked(asked): Asked<HowMany>,
) -> Answered<Timers> {
    let limit = page(asked.limit)?;
    let timers = node.runtime().store().timers(limit).await?;
    Ok(Json(Timers { timers }))
}
