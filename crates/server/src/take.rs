//! What handlers take from a request. Whatever is wrong with it is a problem document.

use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, header, request::Parts},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use std::{fmt, str::FromStr};

/// An object in JSON. Nothing is taken for an empty one.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = json(request, state).await?;
        read(bytes.as_deref().unwrap_or(b"{}"))
    }
}

/// Anything in JSON, or nothing.
pub(crate) struct Sent(pub(crate) Option<serde_json::Value>);

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = json(request, state).await?;
        let value = bytes.map(|bytes| serde_json::from_slice(&bytes));
        value
            .transpose()
            .map(Self)
            .map_err(|error| Problem::invalid(format!("the body is no JSON: {error}")))
    }
}

/// The body, if there is one.
async fn json<S: Send + Sync>(request: Request, state: &S) -> Result<Option<Bytes>, Problem> {
    let is_json = is_json(&request);
    let bytes = Bytes::from_request(request, state).await;
    let bytes = bytes.map_err(|_| Problem::invalid("the body did not come whole"))?;
    match is_json || bytes.is_empty() {
        true => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
        // What a browser sends without asking first is never JSON: no page somebody visits can speak to this node.
        false => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid",
            "the body is JSON: say so by `Content-Type: application/json`",
        )),
    }
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Body<T>, Problem> {
    // A list would be taken for the fields of an object, in their order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::invalid("the body is a JSON object"));
    }
    let read = serde_json::from_slice(bytes);
    read.map(Body)
        .map_err(|error| Problem::invalid(format!("the body is not what this takes: {error}")))
}

/// What follows the question mark. What is unknown there is a mistake, and told.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let asked = Query::try_from_uri(&parts.uri);
        asked
            .map(|Query(asked)| Self(asked))
            .map_err(|refused| Problem::invalid(refused.body_text()))
    }
}

/// What the path names.
pub(crate) struct Named<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for Named<T>
where
    S: Send + Sync,
    T: FromStr,
    T::Err: fmt::Display,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let named = Path::<String>::from_request_parts(parts, state).await;
        let Path(name) = named.map_err(|refused| Problem::invalid(refused.body_text()))?;
        let named = name.parse();
        named
            .map(Self)
            .map_err(|error: T::Err| Problem::invalid(error.to_string()))
    }
}

/// A number without a fraction, however it is written: to JSON `2` and `2.0` are one number.
pub(crate) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else {
        return Ok(None);
    };
    let whole = number.as_u64().or_else(|| {
        let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok()
    });
    let whole = whole.and_then(|whole| whole.try_into().ok());
    whole
        .map(Some)
        .ok_or_else(|| serde::de::Error::custom("a whole number that fits into 32 bits"))
}

/// Fields by their names: a list would be taken for them, in their order.
pub(crate) fn object<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let fields = serde_json::Map::deserialize(from)?;
    serde_json::from_value(fields.into()).map_err(serde::de::Error::custom)
}
