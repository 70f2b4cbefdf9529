//! Whether the node lives and can work, what it counted, and what can be asked of it.

use crate::{
    admit::may_look,
    counts::{head, label},
    openapi,
    state::{Node, now},
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use lockwork_runtime::{Readiness, store::NodeRow};
use serde::Serialize;
use serde_json::Value;
use std::{fmt::Write, sync::Arc, time::Duration};

/// How long a store may take that is there.
const SOON: Duration = Duration::from_secs(2);

/// Why a node is not ready that was told to end.
const ENDS: &str = "it is about to end";

/// Which part is not ready, for those who have no key.
const STORE: &str = "the store does not answer";
const OTHERS: &str = "it is paused, or its locks do not answer";
const ANY: &str = "it is paused, or its store or its locks do not answer";

/// How a node is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    node: String,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Health {
    /// As far as the node knows, without asking anybody.
    pub(crate) fn of(node: &Node) -> Self {
        let why = match node.runtime().readiness() {
            Readiness::Ready if node.end.is_cancelled() => Some(ENDS.to_owned()),
            Readiness::Ready => None,
            Readiness::NotReady(why) => Some(why),
        };
        Self {
            node: node.runtime().name().to_owned(),
            ready: why.is_none(),
            why,
        }
    }

    /// As whoever asks may know it: what servers say can have addresses and names in it, so others are told which part it
    /// is and no more.
    fn told(mut self, node: &Node, asks: &Parts, part: &str) -> Self {
        if self.why.is_some() && !may_look(node, asks) {
            let part = if node.end.is_cancelled() { ENDS } else { part };
            self.why = Some(part.to_owned());
        }
        self
    }
}

pub(crate) async fn alive(State(node): State<Node>, asks: Parts) -> Json<Health> {
    Json(Health::of(&node).told(&node, &asks, ANY))
}

pub(crate) async fn ready(State(node): State<Node>, asks: Parts) -> Response {
    let mut health = Health::of(&node);
    let probed = node.probed.get(probe(&node)).await;
    let part = if probed.is_err() { STORE } else { OTHERS };
    if health.ready
        && let Err(why) = probed
    {
        health.why = Some(why);
        health.ready = false;
    }
    let health = health.told(&node, &asks, part);
    let status = match health.ready {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health)).into_response()
}

/// Whether the store answers now. The locks were asked with the last sign of life.
async fn probe(node: &Node) -> Result<(), String> {
    let answer = tokio::time::timeout(SOON, node.runtime().store().next_due());
    match answer.await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(STORE.to_owned()),
    }
}

pub(crate) async fn describe(State(node): State<Node>) -> Json<Value> {
    Json(openapi::document(&node.limits, &node.base))
}

/// The nodes that share the store, if it says so soon.
async fn nodes(node: &Node) -> Option<Arc<[NodeRow]>> {
    let nodes = tokio::time::timeout(SOON, node.runtime().store().nodes()).await;
    nodes.ok()?.ok().map(Arc::from)
}

/// What this node knows itself is told whatever becomes of the store: that is when people look.
pub(crate) async fn measure(State(node): State<Node>) -> Response {
    let mut text = String::new();
    head(
        &mut text,
        "lockwork_ready",
        "gauge",
        "Whether this node can do what it is asked.",
    );
    let _ = writeln!(text, "lockwork_ready {}", u8::from(Health::of(&node).ready));
    if let Some(nodes) = node.nodes.get(nodes(&node)).await {
        members(&mut text, &nodes);
    }
    node.counts.write(&mut text);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn members(text: &mut String, nodes: &[NodeRow]) {
    let now = now();
    head(
        text,
        "lockwork_node_alive",
        "gauge",
        "Whether a node of the cluster lives.",
    );
    for one in nodes {
        let alive = u8::from(one.until > now);
        let _ = writeln!(
            text,
            "lockwork_node_alive{{node=\"{}\"}} {alive}",
            label(&one.name)
        );
    }
    head(
        text,
        "lockwork_node_bursts",
        "gauge",
        "How many bursts it had under way at its last sign of life.",
    );
    for one in nodes.iter().filter(|one| one.until > now) {
        let _ = writeln!(
            text,
            "lockwork_node_bursts{{node=\"{}\"}} {}",
            label(&one.name),
            one.bursts
        );
    }
}
