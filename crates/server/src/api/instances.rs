//! Instances: what is known of them, and what can be done with them.

use super::{
    Answered,
    pages::{self, LONGEST},
};
use crate::{
    problem::Problem,
    state::Node,
    take::{Asked, Body, Named},
};
use axum::{Json, extract::State, http::StatusCode};
use lockwork_core::workflow::{
    Cancelled, DefinitionHandle, DefinitionId, Error, ExecutionId, InstanceId, Ran, SubStatus,
    Time, Values, VersionId,
};
use lockwork_flow::{Entry, State as Flow};
use lockwork_runtime::{
    Event,
    store::{Filter, Position, Record},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::Instant;

/// A page, if nobody says how long it is, and the longest.
pub(crate) const PAGE: usize = 50;
pub(crate) const LONGEST_PAGE: usize = 500;

/// How often the store is asked for what other nodes have written down.
const LOOK: Duration = Duration::from_millis(500);

/// The longest that somebody can wait for an entry.
const LONGEST_WAIT: u64 = 30;

/// An instance, in a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    instance: InstanceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<DefinitionId>,
    version: VersionId,
    sub_status: SubStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    created: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<Time>,
    /// At how many bookmarks it waits.
    waiting: usize,
    /// How much failed in it.
    incidents: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct Instances {
    instances: Vec<Summary>,
    /// Where the next page begins, if this one is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Which {
    definition: Option<DefinitionId>,
    sub_status: Option<SubStatus>,
    correlation: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
}

pub(crate) fn page(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(PAGE) {
        limit @ 1..=LONGEST_PAGE => Ok(limit),
        _ => Err(Problem::invalid(format!("`limit` is 1 to {LONGEST_PAGE}"))),
    }
}

pub(crate) async fn list(
    State(node): State<Node>,
    Asked(which): Asked<Which>,
) -> Answered<Instances> {
    let limit = page(which.limit)?;
    let after = which.after.as_deref().map(position).transpose()?;
    let filter = Filter {
        definition: which.definition,
        sub_status: which.sub_status,
        correlation: which.correlation,
        limit: Some(limit),
        after,
        ..Filter::default()
    };
    let records = node.runtime().store().list(filter).await?;
    let next = records.last().filter(|_| records.len() == limit).map(next);
    let mut instances = Vec::with_capacity(records.len());
    for record in &records {
        instances.push(summary(&node, record).await?);
    }
    Ok(Json(Instances { instances, next }))
}

async fn summary(node: &Node, record: &Record) -> Result<Summary, Problem> {
    let state = node.runtime().shown(record).await?;
    let definition = definition(node, &state.version).await?;
    Ok(Summary {
        waiting: state.waiting().len(),
        incidents: state.incidents.len(),
        instance: state.instance,
        definition,
        version: state.version,
        sub_status: state.sub_status,
        correlation: state.correlation,
        name: state.name,
        created: state.created,
        finished: state.finished,
    })
}

async fn definition(node: &Node, version: &VersionId) -> Result<Option<DefinitionId>, Error> {
    let handle = DefinitionHandle::Version(version.clone());
    let row = node.runtime().store().resolve(&handle).await?;
    Ok(row.map(|row| row.definition.id.clone()))
}

async fn record(node: &Node, instance: &InstanceId) -> Result<Record, Problem> {
    let record = node.runtime().store().load(instance).await?;
    record.ok_or_else(|| Problem::not_found(format!("there is no instance called `{instance}`")))
}

/// All that is known of an instance.
#[derive(Debug, Serialize)]
pub(crate) struct Instance {
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<DefinitionId>,
    /// As text: it does not fit into the 53 bits of a number in JSON. So for the next one.
    epoch: String,
    commits: String,
    state: Flow,
}

pub(crate) async fn get(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
) -> Answered<Instance> {
    let record = record(&node, &instance).await?;
    Ok(Json(Instance {
        definition: definition(&node, &record.state.version).await?,
        epoch: record.epoch.to_string(),
        commits: record.version.to_string(),
        state: node.runtime().shown(&record).await?,
    }))
}

pub(crate) async fn variables(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
) -> Answered<Values> {
    let record = record(&node, &instance).await?;
    Ok(Json(node.runtime().shown(&record).await?.variables))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    #[serde(default)]
    from: u64,
    #[serde(default)]
    wait: u64,
    limit: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    sub_status: SubStatus,
    /// From which entry on there is more, if there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

pub(crate) async fn journal(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
    Asked(asked): Asked<From>,
) -> Answered<Journal> {
    if asked.wait > LONGEST_WAIT {
        return Err(Problem::invalid(format!(
            "`wait` is {LONGEST_WAIT} seconds at most"
        )));
    }
    // Whoever reads a journal wants all of it, and its entries are small.
    let limit = pages::limit(asked.limit, LONGEST)?;
    let until = Instant::now() + Duration::from_secs(asked.wait);
    // Before the first look, so that nothing happens in between.
    let mut events = node.runtime().events();
    loop {
        let record = record(&node, &instance).await?;
        let mut entries = node
            .runtime()
            .store()
            .journal(&instance, asked.from)
            .await?;
        if !entries.is_empty() || Instant::now() >= until || node.end.is_cancelled() {
            let next = entries.get(limit).map(|entry| entry.sequence);
            entries.truncate(limit);
            return Ok(Json(Journal {
                entries,
                sub_status: record.state.sub_status,
                next,
            }));
        }
        let look = until.min(Instant::now() + LOOK);
        // Told of what happens here, and asking for what happens elsewhere.
        let _ = tokio::time::timeout_at(look, async {
            while let Ok(event) = events.recv().await {
                if matches!(event, Event::Committed { instance: of, .. } if of == instance) {
                    return;
                }
            }
        })
        .await;
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    cancelled: Cancelled,
}

pub(crate) async fn cancel(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
) -> Answered<Ended> {
    let cancelled = node.host.client(Some(instance)).cancel().await?;
    Ok(Json(Ended { cancelled }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    /// All that failed, if it is not said.
    #[serde(default)]
    execution: Option<ExecutionId>,
}

pub(crate) async fn retry(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
    Body(retry): Body<Retry>,
) -> Answered<Ran> {
    Ok(Json(again(&node, &instance, retry.execution).await?))
}

async fn again(
    node: &Node,
    instance: &InstanceId,
    execution: Option<ExecutionId>,
) -> Result<Ran, Problem> {
    let failed = match execution {
        Some(execution) => vec![execution],
        None => {
            let record = record(node, instance).await?;
            let incidents = record.state.incidents.iter();
            incidents
                .map(|incident| incident.execution.clone())
                .collect()
        }
    };
    let mut ran = None;
    for execution in failed {
        let resumer = node.runtime().resumer();
        ran = Some(resumer.retry(instance, execution).await?);
    }
    ran.ok_or_else(|| {
        let detail = "nothing failed in this instance";
        Problem::new(StatusCode::CONFLICT, "conflict", detail)
    })
}

pub(crate) async fn remove(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
) -> Result<StatusCode, Problem> {
    delete(&node, instance).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn delete(node: &Node, instance: InstanceId) -> Result<(), Problem> {
    match node.host.client(Some(instance)).delete().await? {
        true => Ok(()),
        false => Err(Problem::not_found("there is no such instance")),
    }
}

/// What is done with many.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    action: Action,
    instances: Vec<InstanceId>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Action {
    Cancel,
    Retry,
    Delete,
}

#[derive(Debug, Serialize)]
pub(crate) struct BulkDone {
    done: Vec<InstanceId>,
    failed: Vec<Failed>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Failed {
    instance: InstanceId,
    problem: Problem,
}

pub(crate) async fn bulk(State(node): State<Node>, Body(bulk): Body<Bulk>) -> Answered<BulkDone> {
    if bulk.instances.len() > LONGEST_PAGE {
        return Err(Problem::invalid(format!(
            "{LONGEST_PAGE} instances at most"
        )));
    }
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for instance in bulk.instances {
        let client = node.host.client(Some(instance.clone()));
        let result = match bulk.action {
            Action::Cancel => client.cancel().await.map(drop).map_err(Problem::from),
            Action::Delete => delete(&node, instance.clone()).await,
            Action::Retry => again(&node, &instance, None).await.map(drop),
        };
        match result {
            Ok(()) => done.push(instance),
            Err(problem) => failed.push(Failed { instance, problem }),
        }
    }
    Ok(Json(BulkDone { done, failed }))
}

/// Where the next page begins.
fn next(record: &Record) -> String {
    record.position.number().to_string()
}

fn position(text: &str) -> Result<Position, Problem> {
    let number = text.parse().map(Position::new);
    number.map_err(|_| Problem::invalid("`after` is the `next` of the page before"))
}
