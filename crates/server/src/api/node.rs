//! This node, and those it shares its store with.

use super::{Answered, health::Health};
use crate::{
    admit::Asker,
    problem::Problem,
    state::{Node, now},
    take::Body,
};
use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use lockwork_core::workflow::{DefinitionId, InstanceId, Time};
use lockwork_runtime::RefreshStatus;
use serde::{Deserialize, Serialize};

/// A node of the cluster.
#[derive(Debug, Serialize)]
pub(crate) struct Member {
    name: String,
    alive: bool,
    since: Time,
    beat: Time,
    bursts: u32,
    running: Vec<InstanceId>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Nodes {
    nodes: Vec<Member>,
}

pub(crate) async fn list(State(node): State<Node>) -> Answered<Nodes> {
    let (rows, now) = (node.runtime().store().nodes().await?, now());
    let nodes = rows.into_iter().map(|row| Member {
        alive: row.until > now,
        name: row.name,
        since: row.since,
        beat: row.beat,
        bursts: row.bursts,
        running: row.running,
    });
    let nodes = nodes.collect();
    Ok(Json(Nodes { nodes }))
}

/// What this node is, and what it stands on.
#[derive(Debug, Serialize)]
pub(crate) struct ThisNode {
    #[serde(flatten)]
    health: Health,
    lockwork: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    locks: Option<&'static str>,
}

pub(crate) async fn get(State(node): State<Node>) -> Json<ThisNode> {
    Json(ThisNode {
        health: Health::of(&node),
        lockwork: env!("CARGO_PKG_VERSION"),
        locks: node.locks.as_ref().map(|locks| locks.info().scheme),
    })
}

pub(crate) async fn pause(
    State(node): State<Node>,
    Extension(Asker(by)): Extension<Asker>,
) -> Json<Health> {
    tracing::warn!(by, "this node is paused");
    node.runtime().pause();
    Json(Health::of(&node))
}

pub(crate) async fn resume(
    State(node): State<Node>,
    Extension(Asker(by)): Extension<Asker>,
) -> Json<Health> {
    tracing::warn!(by, "this node is resumed");
    node.runtime().resume();
    Json(Health::of(&node))
}

pub(crate) async fn drain(
    State(node): State<Node>,
    Extension(Asker(by)): Extension<Asker>,
) -> (StatusCode, Json<Health>) {
    tracing::warn!(by, "this node is told to end");
    node.end.cancel();
    (StatusCode::ACCEPTED, Json(Health::of(&node)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refresh {
    /// All, if none is named.
    #[serde(default)]
    definitions: Option<Vec<DefinitionId>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Refreshed {
    refreshed: Vec<DefinitionId>,
    not_found: Vec<DefinitionId>,
    busy: Vec<DefinitionId>,
}

pub(crate) async fn refresh(
    State(node): State<Node>,
    Body(refresh): Body<Refresh>,
) -> Result<Response, Problem> {
    let done = node
        .runtime()
        .refresher()
        .refresh(refresh.definitions)
        .await?;
    let refreshed = Refreshed {
        refreshed: done.refreshed,
        not_found: done.not_found,
        busy: done.busy,
    };
    Ok((status(done.status), Json(refreshed)).into_response())
}

#[derive(Debug, Serialize)]
struct Reloaded {
    published: Vec<DefinitionId>,
}

pub(crate) async fn reload(State(node): State<Node>) -> Result<Response, Problem> {
    let done = node.runtime().reloader().reload().await?;
    let reloaded = Reloaded {
        published: done.published,
    };
    Ok((status(done.status), Json(reloaded)).into_response())
}

const fn status(status: RefreshStatus) -> StatusCode {
    match status {
        RefreshStatus::Completed => StatusCode::OK,
        RefreshStatus::AlreadyInProgress => StatusCode::ACCEPTED,
    }
}
