//! What happens to requests on their way: each is counted, and some are refused, kept or lost.

use async_trait::async_trait;
use lockwork::azure::azure_core::{
    Error,
    error::ErrorKind,
    http::{
        AsyncRawResponse, Context, Request, StatusCode,
        headers::Headers,
        policies::{Policy, PolicyResult},
    },
};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It does not arrive; this is the answer: a status, a code and further headers.
    Answer(u16, &'static str, &'static [(&'static str, &'static str)]),
    /// It arrives, and its answer does not.
    AnswerLost,
    /// Nobody hears of it any more, and it arrives so much later.
    Late(Duration),
    /// It takes so long.
    Slow(Duration),
}

#[derive(Debug, Default)]
pub(crate) struct Weather(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    seen: Vec<(&'static str, Instant)>,
    faults: HashMap<&'static str, VecDeque<Fault>>,
    came_late: Vec<StatusCode>,
}

impl Weather {
    /// The next request of this kind meets this; several are met one after the other.
    pub(crate) fn next(&self, kind: &'static str, fault: Fault) {
        let mut state = self.0.lock().unwrap();
        state.faults.entry(kind).or_default().push_back(fault);
    }

    /// What was asked since the last time, in order.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        let seen = std::mem::take(&mut self.0.lock().unwrap().seen);
        seen.into_iter().map(|(kind, _)| kind).collect()
    }

    /// When requests of this kind were sent.
    pub(crate) fn times(&self, kind: &str) -> Vec<Instant> {
        let state = self.0.lock().unwrap();
        let seen = state.seen.iter().filter(|(seen, _)| *seen == kind);
        seen.map(|(_, when)| *when).collect()
    }

    /// What the first request was answered that came late.
    pub(crate) async fn came_late(&self) -> StatusCode {
        loop {
            if let Some(status) = self.0.lock().unwrap().came_late.first() {
                return *status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn meet(&self, kind: &'static str) -> Option<Fault> {
        let mut state = self.0.lock().unwrap();
        state.seen.push((kind, Instant::now()));
        state.faults.get_mut(kind)?.pop_front()
    }
}

/// What a request is about.
fn kind(request: &Request) -> &'static str {
    let header = |name: &'static str| {
        let name = lockwork::azure::azure_core::http::headers::HeaderName::from_static(name);
        request.headers().get_optional_str(&name)
    };
    let query = request.url().query().unwrap_or_default();
    match (request.method().as_str(), header("x-ms-lease-action")) {
        (_, Some("acquire")) => "lease",
        (_, Some("renew")) => "renew",
        (_, Some("release")) => "release",
        (_, Some("break")) => "break",
        ("PUT", _) if query.contains("comp=metadata") => "write",
        ("PUT", _) if query.contains("comp=properties") => "count",
        ("PUT", _) if query.contains("restype=container") => "create container",
        ("PUT", _) => "create",
        ("GET", _) => "list",
        ("DELETE", _) => "delete",
        ("HEAD", _) => "look",
        _ => "something else",
    }
}

#[async_trait]
#[expect(
    elided_lifetimes_in_paths,
    reason = "the trait elides it, and `async_trait` minds"
)]
impl Policy for Weather {
    async fn send(
        &self,
        cx: &Context,
        request: &mut Request,
        next: &[Arc<dyn Policy>],
    ) -> PolicyResult {
        match self.meet(kind(request)) {
            None => next[0].send(cx, request, &next[1..]).await,
            Some(Fault::Answer(status, code, headers)) => Ok(answer(status, code, headers)),
            Some(Fault::AnswerLost) => {
                drop(next[0].send(cx, request, &next[1..]).await?);
                Err(torn())
            }
            Some(Fault::Late(after)) => {
                let (next, mut request) = (next.to_vec(), request.clone());
                let state = self.0.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    let cx = Context::new();
                    let late = next[0].send(&cx, &mut request, &next[1..]).await;
                    let status = late.unwrap().status();
                    state.lock().unwrap().came_late.push(status);
                });
                Err(torn())
            }
            Some(Fault::Slow(time)) => {
                tokio::time::sleep(time).await;
                next[0].send(cx, request, &next[1..]).await
            }
        }
    }
}

fn torn() -> Error {
    Error::with_message(ErrorKind::Io, "the weather tore the connection")
}

fn answer(status: u16, code: &str, more: &[(&'static str, &'static str)]) -> AsyncRawResponse {
    let mut headers = Headers::new();
    if !code.is_empty() {
        headers.insert("x-ms-error-code", code.to_owned());
    }
    for (name, value) in more {
        headers.insert(*name, (*value).to_owned());
    }
    AsyncRawResponse::from_bytes(StatusCode::from(status), headers, Vec::new())
}
