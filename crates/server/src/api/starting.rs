//! New instances.

use crate::{
    problem::Problem,
    state::Node,
    take::{Asked, Body, Named, whole},
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use lockwork_core::workflow::{
    Create, CreateAndRun, DefinitionHandle, DefinitionId, InstanceId, Values, VersionSelect,
};
use serde::Deserialize;

/// Of several requests with one of these, one creates an instance.
const KEY: &str = "idempotency-key";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    #[serde(default)]
    input: Values,
    #[serde(default)]
    correlation: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    key: Option<String>,
    /// Drawn, unless somebody wants to call it something.
    #[serde(default)]
    instance: Option<InstanceId>,
    /// The published one, if it is not said.
    #[serde(default, deserialize_with = "whole")]
    version: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waiting {
    wait: Option<bool>,
}

pub(crate) async fn start(
    State(node): State<Node>,
    Named(definition): Named<DefinitionId>,
    Asked(waiting): Asked<Waiting>,
    headers: HeaderMap,
    Body(start): Body<Start>,
) -> Result<Response, Problem> {
    let select = start
        .version
        .map_or(VersionSelect::Published, VersionSelect::Number);
    let mut create = Create::new(DefinitionHandle::Of { definition, select }).input(start.input);
    create.correlation = start.correlation;
    create.name = start.name;
    create.key = start
        .key
        .map_or_else(|| key(&headers), |key| Ok(Some(key)))?;
    let create = CreateAndRun::new(create);
    if waiting.wait.unwrap_or(true) {
        let ran = node
            .host
            .client(start.instance)
            .create_and_run(create)
            .await?;
        return Ok(Json(ran).into_response());
    }
    let created = node.runtime().begin(start.instance, create).await?;
    Ok((StatusCode::ACCEPTED, Json(created)).into_response())
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get(KEY) else {
        return Ok(None);
    };
    let key = key.to_str();
    key.map(|key| Some(key.to_owned()))
        .map_err(|_| Problem::invalid("an idempotency key is made of visible ASCII"))
}
