//! Asking a workflow on a route that it names.

use crate::{
    admit::Caller,
    endpoints::{
        answer,
        request::{addressee, input, parts, query},
        table::{FRESH, Named, Routes},
    },
    problem::Problem,
    state::Node,
    take::Sent,
};
use axum::{
    Extension,
    extract::{FromRequest, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use lockwork_core::workflow::{Addressee, StimulusHash, Value};
use lockwork_flow::HTTP;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::time::Instant;

/// A request for a workflow.
struct Call {
    node: Node,
    /// Whether it has no key that is good for this.
    stranger: bool,
    method: String,
    path: Vec<String>,
    to: Addressee,
    query: Value,
    headers: HeaderMap,
    body: Option<Value>,
}

/// Whoever has no key is refused before the rest of what it sends is read, unless a workflow is asked that lets it.
pub(crate) async fn check(node: &Node, caller: &Caller, request: &Parts) -> Result<(), Problem> {
    let Some(refused) = &caller.0 else {
        return Ok(());
    };
    let came = Instant::now();
    let Some(path) = parts(&node.base, request.uri.path())? else {
        return Err(refused.clone());
    };
    // It may have been published on another node just now.
    for moment in [came.checked_sub(FRESH).unwrap_or(came), came] {
        let routes = node.table.since(moment, &**node.runtime().store()).await?;
        let mut all = routes.of(&path).into_iter().flat_map(|(_, all)| all);
        if all.any(|named| named.endpoint.public) {
            return Ok(());
        }
    }
    Err(refused.clone())
}

pub(crate) async fn call(
    State(node): State<Node>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let came = Instant::now();
    let Some(path) = parts(&node.base, request.uri().path())? else {
        return Err(caller.0.unwrap_or_else(nobody));
    };
    let call = Call {
        stranger: caller.0.is_some(),
        method: request.method().to_string(),
        path,
        to: addressee(request.headers())?,
        query: query(request.uri())?,
        headers: request.headers().clone(),
        body: Sent::from_request(request, &()).await?.0,
        node,
    };
    let a_moment_ago = came.checked_sub(FRESH).unwrap_or(came);
    let first = call.routes(a_moment_ago).await?;
    if let Some(answer) = call.ask(&first).await? {
        return Ok(answer);
    }
    // It may have been published on another node just now.
    let last = call.routes(came).await?;
    if !Arc::ptr_eq(&first, &last)
        && let Some(answer) = call.ask(&last).await?
    {
        return Ok(answer);
    }
    let allowed = call.allowed(&last);
    match caller.0 {
        _ if !allowed.is_empty() && !allowed.contains(call.method.as_str()) => {
            Ok(otherwise(&allowed))
        }
        Some(problem) => Err(problem),
        None => Err(nobody()),
    }
}

fn nobody() -> Problem {
    let detail = "no workflow is started by this, and none waits for it now: check the path, and for whom it is";
    Problem::not_found(detail)
}

fn otherwise(allowed: &BTreeSet<&str>) -> Response {
    let allowed: Vec<_> = allowed.iter().copied().collect();
    let allowed = allowed.join(", ");
    let detail = format!("this route is asked by {allowed}");
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "invalid", detail);
    let mut response = problem.into_response();
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

impl Call {
    async fn routes(&self, since: Instant) -> Result<Arc<Routes>, Problem> {
        let store = self.node.runtime().store();
        Ok(self.node.table.since(since, &**store).await?)
    }

    fn sees(&self, named: &Named) -> bool {
        named.endpoint.public || !self.stranger
    }

    /// How else one could ask, of workflows that are published.
    fn allowed<'r>(&self, routes: &'r Routes) -> BTreeSet<&'r str> {
        let all = routes.of(&self.path).into_iter();
        let all = all.flat_map(|(_, all)| all);
        let all = all.filter(|named| named.published && self.sees(named));
        all.map(|named| named.endpoint.method.as_str()).collect()
    }

    /// Those it starts, or else those who wait; where the path is said most exactly first.
    async fn ask(&self, routes: &Routes) -> Result<Option<Response>, Problem> {
        for (parameters, all) in routes.of(&self.path) {
            let all = all.into_iter();
            let all = all.filter(|named| named.endpoint.method == self.method && self.sees(named));
            let all: Vec<_> = all.collect();
            if let Some(starting) = self.starting(&all).await?
                && let Some(answer) = self.tell(&parameters, &[starting], true).await?
            {
                return Ok(Some(answer));
            }
            let mut waiting: BTreeMap<StimulusHash, Vec<&Named>> = BTreeMap::new();
            for named in all {
                let hash = hash(named, false)?;
                waiting.entry(hash).or_default().push(named);
            }
            for same in waiting.values() {
                if let Some(answer) = self.tell(&parameters, same, false).await? {
                    return Ok(Some(answer));
                }
            }
        }
        Ok(None)
    }

    /// The workflow of which it starts an instance.
    async fn starting<'r>(&self, all: &[&'r Named]) -> Result<Option<&'r Named>, Problem> {
        let mut starting: Option<&Named> = None;
        let may = all
            .iter()
            .filter(|one| one.published && one.endpoint.starts);
        for named in may.filter(|_| self.to.instance.is_none()) {
            let hash = hash(named, true)?;
            let store = self.node.runtime().store();
            let triggers = store.triggers(&named.definition).await?;
            if !triggers.iter().any(|trigger| trigger.hash == hash) {
                continue;
            }
            if let Some(other) = starting.replace(named) {
                let detail = format!(
                    "two workflows want to be started by this, `{}` and `{}`: retract one of them",
                    other.definition, named.definition
                );
                return Err(Problem::new(StatusCode::CONFLICT, "conflict", detail));
            }
        }
        Ok(starting)
    }

    /// Tells whoever is meant by one of these, which differ in nothing by which they are found.
    async fn tell(
        &self,
        parameters: &[String],
        same: &[&Named],
        starts: bool,
    ) -> Result<Option<Response>, Problem> {
        let Some(endpoint) = same.first().map(|named| &named.endpoint) else {
            return Ok(None);
        };
        let mut to = self.to.clone();
        if let Some(correlation) = endpoint.correlation.and_then(|at| parameters.get(at)) {
            to.correlation = Some(correlation.clone());
        }
        let wanted = same.iter().flat_map(|named| &named.endpoint.headers);
        let (query, body) = (self.query.clone(), self.body.clone());
        let input = input(parameters, query, &self.headers, wanted, body);
        let stimulus = endpoint.stimulus(starts)?.to(to).input(input);
        let told = self.node.runtime().sender().tell(stimulus).await?;
        if told.instances.is_empty() {
            return Ok(None);
        }
        let instances = told.instances.clone();
        match same.iter().any(|named| named.endpoint.waits) {
            true => answer::of(told.reached().await, instances),
            false => Ok(Some(answer::accepted(instances))),
        }
    }
}

fn hash(named: &Named, starts: bool) -> Result<StimulusHash, Problem> {
    let payload = named.endpoint.payload(starts);
    Ok(StimulusHash::of(HTTP, &payload, None)?)
}
