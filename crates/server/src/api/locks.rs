//! Locks: who holds them, who waits, and taking them away.

use super::Answered;
use crate::{
    admit::Asker,
    problem::Problem,
    state::Node,
    take::{Asked, Body, Named},
};
use axum::{Extension, Json, extract::State};
use lockwork_core::lock::{Holder, Mode};
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// Of which kind a lock is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum LockKind {
    #[default]
    Mutex,
    Rw,
    Semaphore,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    #[serde(default)]
    kind: LockKind,
}

/// One who holds a lock, or waits for it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Party {
    owner: String,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permits: Option<u32>,
    /// As text: it does not fit into the 53 bits of a number in JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
}

impl From<Holder> for Party {
    fn from(holder: Holder) -> Self {
        let since = holder.since.and_then(|since| {
            let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            u64::try_from(since.as_millis()).ok()
        });
        Self {
            owner: holder.owner.to_string(),
            mode: holder.mode.as_str(),
            permits: permits(holder.mode),
            token: holder.token.map(|token| token.to_string()),
            client: holder.client,
            since,
        }
    }
}

const fn permits(mode: Mode) -> Option<u32> {
    match mode {
        Mode::Permit { of } => Some(of.get()),
        _ => None,
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Lock {
    name: String,
    holders: Vec<Party>,
    waiting: Vec<Party>,
}

pub(crate) async fn get(
    State(node): State<Node>,
    Named(name): Named<String>,
    Asked(which): Asked<Which>,
) -> Answered<Lock> {
    let locks = node.locks()?;
    let found = match which.kind {
        LockKind::Mutex => locks.mutex(&name).holders().await?,
        LockKind::Rw => locks.rw_lock(&name).holders().await?,
        LockKind::Semaphore => locks.semaphore(&name, 1).holders().await?,
    };
    let waiting = found.waiting.into_iter();
    let waiting = waiting.map(|one| Holder::new(one.owner, one.mode).into());
    Ok(Json(Lock {
        name,
        holders: found.holders.into_iter().map(Party::from).collect(),
        waiting: waiting.collect(),
    }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BreakLock {
    /// For the log.
    why: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Broken {
    broken: usize,
}

pub(crate) async fn break_lock(
    State(node): State<Node>,
    Extension(Asker(by)): Extension<Asker>,
    Named(name): Named<String>,
    Asked(which): Asked<Which>,
    Body(wish): Body<BreakLock>,
) -> Answered<Broken> {
    if wish.why.trim().is_empty() {
        return Err(Problem::invalid(
            "say `why`: whoever finds the lock broken will want to know",
        ));
    }
    let locks = node.locks()?;
    tracing::warn!(name, by, why = wish.why, "a lock is broken");
    let why = format!("{by}: {}", wish.why);
    let broken = match which.kind {
        LockKind::Mutex => locks.mutex(&name).break_lock(&why).await?,
        LockKind::Rw => locks.rw_lock(&name).break_lock(&why).await?,
        LockKind::Semaphore => locks.semaphore(&name, 1).break_lock(&why).await?,
    };
    Ok(Json(Broken { broken }))
}
