//! Who is let in, for how long, and how many at once.

use crate::{
    api, bodies,
    keys::Scope,
    problem::Problem,
    routes::{Access, Operation},
    seats::{Asking, Seat},
    state::Node,
    trace,
};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::{future::Future, sync::Arc};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

/// Whose key it was, for what is written down about a request.
#[derive(Clone, Debug)]
pub(crate) struct Asker(pub(crate) String);

/// Why whoever asks a workflow must not, unless that workflow says that everybody may.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Option<Problem>);

/// Around each operation.
pub(crate) async fn admit(
    node: Node,
    operation: &'static Operation,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let span = trace::span(operation, &request);
    let answer = let_in(&node, operation, request, next);
    let response = match answer.instrument(span.clone()).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    let status = response.status().as_u16();
    trace::answered(&span, status);
    node.counts.request(operation.name, status, began.elapsed());
    tracing::debug!(operation = operation.name, status, took = ?began.elapsed(), "asked");
    response
}

async fn let_in(
    node: &Node,
    operation: &Operation,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let until = Instant::now() + node.limits.time;
    let (mut parts, body) = request.into_parts();
    in_time(until, check(node, operation, &mut parts)).await??;
    let body = match operation.takes {
        Some(_) => bodies::read(node, body, until).await?,
        None => body,
    };
    // From now on it asks for something, and not before: a connection on which a request trickles is one of the idle.
    let seat = parts.extensions.get::<Arc<Seat>>();
    let asking = seat.map(Asking::new);
    let response = answered(
        node,
        operation,
        Request::from_parts(parts, body),
        next,
        until,
    )
    .await;
    let response = response.unwrap_or_else(IntoResponse::into_response);
    Ok(match asking {
        Some(asking) => asking.until_given(response),
        None => response,
    })
}

/// Who asks, and whether that is enough, as far as it is known before the body has come.
async fn check(node: &Node, operation: &Operation, parts: &mut Parts) -> Result<(), Problem> {
    let asker = match operation.access {
        Access::Declared => {
            let (asker, caller) = caller(node, parts)?;
            api::endpoints::check(node, &caller, parts).await?;
            parts.extensions.insert(caller);
            asker
        }
        Access::Signed => {
            let link = api::links::check(node, parts).await?;
            parts.extensions.insert(link);
            Asker("nobody".to_owned())
        }
        _ => who(node, operation, parts)?,
    };
    parts.extensions.insert(asker);
    Ok(())
}

async fn answered(
    node: &Node,
    operation: &Operation,
    request: Request<Body>,
    next: Next,
    until: Instant,
) -> Result<Response, Problem> {
    if operation.access.is_urgent() {
        return Ok(next.run(request).await);
    }
    let _room = node.room.try_acquire().map_err(|_| {
        let detail = "this node does as many requests as it can at this moment: come again";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).after(1)
    })?;
    in_time(until, next.run(request)).await
}

async fn in_time<T>(until: Instant, work: impl Future<Output = T>) -> Result<T, Problem> {
    timeout_at(until, work).await.map_err(|_| {
        let detail = "this took too long to wait for, and may go on: look at the instance before you ask again";
        Problem::new(StatusCode::GATEWAY_TIMEOUT, "too-slow", detail)
    })
}

/// Whether whoever asks may look: those who may not are told less, where everybody may ask.
pub(crate) fn may_look(node: &Node, parts: &Parts) -> bool {
    match node.keys.is_empty() {
        true => from_here(parts).is_ok(),
        false => with_a_key(node, Scope::Read, parts).is_ok(),
    }
}

fn who(node: &Node, operation: &Operation, parts: &Parts) -> Result<Asker, Problem> {
    let Some(scope) = operation.access.scope() else {
        return Ok(Asker("nobody".to_owned()));
    };
    if node.keys.is_empty() {
        from_here(parts)?;
        return Ok(Asker("somebody on this machine".to_owned()));
    }
    with_a_key(node, scope, parts)
}

/// Who asks a workflow: whether that is enough, the workflow says.
fn caller(node: &Node, parts: &Parts) -> Result<(Asker, Caller), Problem> {
    if node.keys.is_empty() {
        from_here(parts)?;
        let asker = Asker("somebody on this machine".to_owned());
        return Ok((asker, Caller(None)));
    }
    Ok(match with_a_key(node, Scope::Call, parts) {
        Ok(asker) => (asker, Caller(None)),
        Err(problem) => (Asker("nobody".to_owned()), Caller(Some(problem))),
    })
}

fn with_a_key(node: &Node, scope: Scope, parts: &Parts) -> Result<Asker, Problem> {
    let header = parts.headers.get(header::AUTHORIZATION);
    let key = header.and_then(|header| header.to_str().ok());
    let key = key.and_then(|header| {
        let (kind, key) = header.split_once(' ')?;
        kind.eq_ignore_ascii_case("Bearer").then_some(key.trim())
    });
    let found = key.and_then(|key| node.keys.find(key)).ok_or_else(|| {
        let detail = "this needs a key that the node knows: `Authorization: Bearer …`";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    })?;
    match found.is_good_for(scope) {
        true => Ok(Asker(found.name().to_owned())),
        false => {
            let detail = format!("this key is not good for `{scope}`");
            Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail))
        }
    }
}

/// Without keys the node is reached from this machine alone. So is every page that its user visits: one that calls itself
/// by another name, or says that it comes from elsewhere, is not let in.
fn from_here(parts: &Parts) -> Result<(), Problem> {
    let named = |name| {
        parts
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap_or("?"))
    };
    let host = parts.uri.host().or_else(|| named(header::HOST));
    let origin = named(header::ORIGIN).map(|origin| {
        let bare = origin.split_once("://").map(|(_, host)| host);
        bare.unwrap_or(origin)
    });
    // A page need not say where it comes from when it asks for a picture; its browser does.
    let sent = named(HeaderName::from_static("sec-fetch-site"));
    let sent = sent.is_none_or(|site| ["none", "same-origin"].contains(&site));
    if sent && host.is_none_or(is_here) && origin.is_none_or(is_here) {
        return Ok(());
    }
    let detail = "a node without keys is for this machine alone: call it 127.0.0.1 or localhost, or give it keys";
    Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail))
}

fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address: Option<std::net::IpAddr> = name.parse().ok();
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in [
            "localhost",
            "LOCALHOST:8600",
            "127.0.0.1:1",
            "[::1]:8600",
            "127.8.9.1",
        ] {
            assert!(is_here(host), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com",
            "10.0.0.1",
            "[::2]:1",
            "",
            "null",
        ] {
            assert!(!is_here(host), "{host}");
        }
    }
}
