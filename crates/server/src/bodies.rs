//! What a request brings, read before there is room for the request: whoever sends slowly takes nobody's.

use crate::{problem::Problem, state::Node};
use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use futures_util::StreamExt;
use hyper::body::Body as _;
use tokio::{
    sync::{Semaphore, TryAcquireError},
    time::{Instant, timeout_at},
};

/// How much of all bodies is kept while they come: as much as there may be of those that have come.
pub(crate) fn most(requests: usize, body: usize) -> usize {
    requests.saturating_mul(body).min(Semaphore::MAX_PERMITS)
}

/// All of a body, if it comes in time and is not too large.
pub(crate) async fn read(node: &Node, body: Body, until: Instant) -> Result<Body, Problem> {
    let until = until.min(Instant::now() + node.limits.headers);
    let read = timeout_at(until, whole(node, body)).await;
    read.unwrap_or_else(|_| {
        let detail = "the body did not come in time: send it again, faster";
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail).after(1))
    })
}

async fn whole(node: &Node, body: Body) -> Result<Body, Problem> {
    let most = node.limits.body;
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    let mut kept = Vec::new();
    // What is kept is counted until it has come, and then by the room that the request takes.
    let mut counted = node.bodies.try_acquire_many(0).map_err(|_| no_memory())?;
    let mut frames = body.into_data_stream();
    while let Some(bytes) = frames.next().await {
        let bytes = bytes.map_err(|_| Problem::invalid("the body did not come whole"))?;
        if kept.len() + bytes.len() > most {
            return Err(too_large());
        }
        counted.merge(count(node, &bytes).map_err(|_| no_memory())?);
        kept.extend_from_slice(&bytes);
    }
    Ok(Body::from(kept))
}

fn count<'n>(
    node: &'n Node,
    bytes: &Bytes,
) -> Result<tokio::sync::SemaphorePermit<'n>, TryAcquireError> {
    let count = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    node.bodies.try_acquire_many(count)
}

fn too_large() -> Problem {
    let detail = "the body is larger than this node takes";
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
}

fn no_memory() -> Problem {
    let detail = "this node is sent as much as it can keep at this moment: come again";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).after(1)
}
