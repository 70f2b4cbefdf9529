//! What waits, what was not done, and what happens by itself.

use super::{Answered, instances::page, pages::Paging};
use crate::{
    problem::Problem,
    state::Node,
    take::{Asked, Named},
};
use axum::{Json, extract::State};
use lockwork_runtime::{
    ErrorKind,
    store::{DeadLetter, Timer, WaitingStimulus},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
pub(crate) struct Queue {
    waiting: Vec<WaitingStimulus>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(crate) async fn waiting(
    State(node): State<Node>,
    Asked(asked): Asked<Paging>,
) -> Answered<Queue> {
    let all = node.runtime().store().waiting().await?;
    let (waiting, next) = asked.of(all, |one| (one.created, one.id.clone()))?;
    Ok(Json(Queue { waiting, next }))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetters {
    dead_letters: Vec<DeadLetter>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(crate) async fn dead(
    State(node): State<Node>,
    Asked(asked): Asked<Paging>,
) -> Answered<DeadLetters> {
    let all = node.runtime().dead_letters().list().await?;
    let (dead_letters, next) = asked.of(all, |one| (one.at, one.id.clone()))?;
    Ok(Json(DeadLetters { dead_letters, next }))
}

#[derive(Debug, Serialize)]
pub(crate) struct Replayed {
    id: String,
}

pub(crate) async fn replay(
    State(node): State<Node>,
    Named(id): Named<String>,
) -> Answered<Replayed> {
    let letters = node.runtime().dead_letters();
    match letters.replay(&id).await {
        Ok(id) => Ok(Json(Replayed { id })),
        // It says that there is none, or that it was replayed before: which of them is known by looking.
        Err(error) if error.kind() == ErrorKind::Conflict => {
            let known = letters.list().await?;
            match known.iter().any(|letter| letter.id == id) {
                true => Err(error.into()),
                false => Err(Problem::not_found("there is no such dead letter")),
            }
        }
        Err(error) => Err(error.into()),
    }
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
