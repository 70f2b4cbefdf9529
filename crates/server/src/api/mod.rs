//! What is done with each request, and how it is answered.

pub(crate) mod definitions;
pub(crate) mod endpoints;
pub(crate) mod health;
pub(crate) mod instances;
pub(crate) mod links;
pub(crate) mod live;
pub(crate) mod locks;
pub(crate) mod node;
pub(crate) mod pages;
pub(crate) mod queue;
pub(crate) mod starting;
pub(crate) mod stimuli;

use crate::problem::Problem;
use axum::{
    Json,
    http::{StatusCode, Uri},
};

/// An answer in JSON, or what went wrong.
pub(crate) type Answered<T> = Result<Json<T>, Problem>;

/// Nothing is there.
pub(crate) async fn nothing(uri: Uri) -> Problem {
    let detail = format!("there is nothing at `{}`: see /openapi.json", uri.path());
    Problem::not_found(detail)
}

/// It is there, and not to be asked like that.
pub(crate) async fn not_so() -> Problem {
    let detail = "this is not asked by this method: see /openapi.json";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "invalid", detail)
}
