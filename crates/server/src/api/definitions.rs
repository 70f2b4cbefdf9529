//! Workflows, and their versions.

use super::{Answered, pages::Paging};
use crate::{
    problem::Problem,
    state::Node,
    take::{Asked, Body, Named, whole},
};
use axum::{Json, extract::State, http::StatusCode};
use lockwork_core::workflow::{DefinitionHandle, DefinitionId, Time, VersionId, VersionSelect};
use lockwork_flow::Definition;
use lockwork_runtime::store::VersionRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One version, with all that is in it.
#[derive(Debug, Serialize)]
pub(crate) struct Version {
    #[serde(flatten)]
    summary: Summary,
    definition: Definition,
}

impl From<VersionRow> for Version {
    fn from(row: VersionRow) -> Self {
        Self {
            definition: Definition::clone(&row.definition),
            summary: row.into(),
        }
    }
}

/// One version, in a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    id: DefinitionId,
    version: VersionId,
    number: u32,
    published: bool,
    created: Time,
}

impl From<VersionRow> for Summary {
    fn from(row: VersionRow) -> Self {
        Self {
            id: row.definition.id.clone(),
            version: row.id,
            number: row.number,
            published: row.published,
            created: row.created,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Definitions {
    definitions: Vec<Summary>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(crate) async fn list(
    State(node): State<Node>,
    Asked(asked): Asked<Paging>,
) -> Answered<Definitions> {
    let rows = node.runtime().store().versions(None).await?;
    let mut shown: BTreeMap<DefinitionId, VersionRow> = BTreeMap::new();
    for row in rows {
        let better =
            |other: &VersionRow| (row.published, row.number) > (other.published, other.number);
        if shown.get(&row.definition.id).is_none_or(better) {
            shown.insert(row.definition.id.clone(), row);
        }
    }
    let all = shown.into_values().map(Summary::from).collect();
    let (definitions, next) = asked.of(all, |one: &Summary| one.id.clone())?;
    Ok(Json(Definitions { definitions, next }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    version: Option<String>,
}

pub(crate) async fn get(
    State(node): State<Node>,
    Named(definition): Named<DefinitionId>,
    Asked(which): Asked<Which>,
) -> Answered<Version> {
    let select = which
        .version
        .as_deref()
        .map_or(Ok(VersionSelect::PublishedOrLatest), select)?;
    let handle = DefinitionHandle::Of { definition, select };
    let row = node.runtime().definitions().resolve(&handle).await?;
    Ok(Json(row.into()))
}

fn select(text: &str) -> Result<VersionSelect, Problem> {
    match text {
        "published" => Ok(VersionSelect::Published),
        "latest" => Ok(VersionSelect::Latest),
        "draft" => Ok(VersionSelect::Draft),
        "publishedOrLatest" => Ok(VersionSelect::PublishedOrLatest),
        number => number.parse().map(VersionSelect::Number).map_err(|_| {
            Problem::invalid(
                "`version` is `published`, `latest`, `draft`, `publishedOrLatest` or a number",
            )
        }),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Putting {
    publish: Option<bool>,
}

pub(crate) async fn put(
    State(node): State<Node>,
    Named(id): Named<DefinitionId>,
    Asked(putting): Asked<Putting>,
    Body(mut json): Body<Value>,
) -> Answered<Version> {
    // The path says what it is called.
    if let Some(fields) = json.as_object_mut() {
        fields.entry("id").or_insert_with(|| id.as_str().into());
    }
    // What this program cannot read is for whoever wrote it to mend.
    let definition = Definition::from_value(json).map_err(|error| {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            error.to_string(),
        )
    })?;
    if definition.id != id {
        return Err(Problem::invalid(
            "the definition has another id than the path",
        ));
    }
    let definitions = node.runtime().definitions();
    let row = match putting.publish.unwrap_or(true) {
        true => definitions.publish(definition).await?,
        false => definitions.draft(definition).await?,
    };
    Ok(Json(row.into()))
}

pub(crate) async fn versions(
    State(node): State<Node>,
    Named(id): Named<DefinitionId>,
    Asked(asked): Asked<Paging>,
) -> Answered<Definitions> {
    let rows = node.runtime().store().versions(Some(&id)).await?;
    if rows.is_empty() {
        return Err(Problem::not_found("there is no such workflow"));
    }
    let all = rows.into_iter().map(Summary::from).collect();
    let (definitions, next) = asked.of(all, |one: &Summary| one.number)?;
    Ok(Json(Definitions { definitions, next }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Publish {
    /// The last one, if it is not said.
    #[serde(default, deserialize_with = "whole")]
    version: Option<u32>,
}

pub(crate) async fn publish(
    State(node): State<Node>,
    Named(definition): Named<DefinitionId>,
    Body(publish): Body<Publish>,
) -> Answered<Version> {
    let select = publish
        .version
        .map_or(VersionSelect::Latest, VersionSelect::Number);
    let handle = DefinitionHandle::Of { definition, select };
    let definitions = node.runtime().definitions();
    let row = definitions.resolve(&handle).await?;
    let row = definitions
        .publish(Definition::clone(&row.definition))
        .await?;
    Ok(Json(row.into()))
}

#[derive(Debug, Serialize)]
pub(crate) struct Retracted {
    retracted: bool,
}

pub(crate) async fn retract(
    State(node): State<Node>,
    Named(id): Named<DefinitionId>,
) -> Answered<Retracted> {
    let retracted = node.runtime().definitions().retract(&id).await?;
    if !retracted && node.runtime().store().versions(Some(&id)).await?.is_empty() {
        return Err(Problem::not_found("there is no such workflow"));
    }
    Ok(Json(Retracted { retracted }))
}
