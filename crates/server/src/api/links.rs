//! Links by which somebody without a key can resume one bookmark.

use super::Answered;
use crate::{
    links,
    problem::Problem,
    state::{Node, now},
    take::{Body, Named, whole},
};
use axum::{
    Extension, Json,
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
};
use lockwork_core::workflow::{BookmarkId, Delivery, InstanceId, SubStatus, Time, Value};
use lockwork_flow::delivered;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// For how long a link is good, if nobody says for how long: a week.
const USUAL: u64 = 7 * 86_400;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkWanted {
    bookmark: BookmarkId,
    #[serde(default, deserialize_with = "whole")]
    seconds: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Link {
    /// Below the address of any node that has the same secret.
    path: String,
    until: Time,
}

pub(crate) async fn make(
    State(node): State<Node>,
    Named(instance): Named<InstanceId>,
    Body(wanted): Body<LinkWanted>,
) -> Answered<Link> {
    let record = node.runtime().store().load(&instance).await?;
    let waits = record.is_some_and(|record| {
        let mut waiting = record.state.waiting().iter();
        waiting.any(|bookmark| bookmark.id == wanted.bookmark)
    });
    if !waits {
        return Err(Problem::not_found(
            "no instance of this name waits at this bookmark",
        ));
    }
    let seconds = wanted.seconds.map_or(USUAL, u64::from);
    let until = now().after(Duration::from_secs(seconds));
    let link = links::Link {
        instance,
        bookmark: wanted.bookmark,
        until,
    };
    let path = format!("/v1/links/{}", node.secret.sign(&link));
    Ok(Json(Link { path, until }))
}

/// What somebody without a key is told: little.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivered {
    delivery: Delivery,
    sub_status: SubStatus,
}

/// What a link says, if it is good: known before anything else of the request is looked at.
pub(crate) async fn check(node: &Node, parts: &mut Parts) -> Result<links::Link, Problem> {
    let Named(link) = Named::<String>::from_request_parts(parts, &()).await?;
    node.secret.read(&link, now()).ok_or_else(|| {
        let detail = "this link is not good, or not any more: ask for another one";
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    })
}

pub(crate) async fn follow(
    State(node): State<Node>,
    Extension(link): Extension<links::Link>,
    Body(payload): Body<Value>,
) -> Answered<Delivered> {
    let resumer = node.runtime().resumer();
    let input = delivered(Some(payload));
    let ran = resumer.resume(&link.instance, link.bookmark, input).await?;
    Ok(Json(Delivered {
        delivery: ran.delivery,
        sub_status: ran.sub_status,
    }))
}
