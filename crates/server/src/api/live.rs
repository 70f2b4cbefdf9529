//! What happens on this node, told as it happens.

use crate::{problem::Problem, state::Node, take::Asked};
use axum::{
    extract::State,
    http::StatusCode,
    response::sse::{self, KeepAlive, Sse},
};
use lockwork_core::workflow::InstanceId;
use lockwork_runtime::Event;
use serde::Deserialize;
use serde_json::json;
use std::{convert::Infallible, sync::atomic::Ordering::Relaxed};
use tokio::sync::broadcast::{Receiver, error::RecvError};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    instance: Option<InstanceId>,
}

/// One who listens. Counted until it is gone.
struct Listener {
    node: Node,
    events: Receiver<Event>,
    instance: Option<InstanceId>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.node.counts.listeners.fetch_sub(1, Relaxed);
    }
}

pub(crate) async fn listen(
    State(node): State<Node>,
    Asked(which): Asked<Which>,
) -> Result<Sse<impl futures_util::Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let events = node.runtime().events();
    let listeners = node.counts.listeners.fetch_add(1, Relaxed);
    let listener = Listener {
        instance: which.instance,
        events,
        node,
    };
    if listeners >= listener.node.limits.listeners {
        let detail = "as many listen as this node allows";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).after(5));
    }
    let stream = futures_util::stream::unfold(listener, |mut listener| async {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

impl Listener {
    /// The next thing, until the node ends.
    async fn next(&mut self) -> Option<sse::Event> {
        let end = self.node.end.clone();
        loop {
            let event = tokio::select! {
                () = end.cancelled() => return None,
                event = self.events.recv() => event,
            };
            match event {
                Ok(event) => {
                    if let Some(told) = told(&event, self.instance.as_ref()) {
                        return Some(told);
                    }
                }
                // It can look into the store for what it has missed.
                Err(RecvError::Lagged(missed)) => {
                    let missed = json!({ "missed": missed });
                    return Some(
                        sse::Event::default()
                            .event("missed")
                            .data(missed.to_string()),
                    );
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

fn told(event: &Event, only: Option<&InstanceId>) -> Option<sse::Event> {
    let (name, of, data) = match event {
        Event::Created(instance) => ("created", Some(instance), json!({ "instance": instance })),
        Event::Committed {
            instance,
            sub_status,
            journal,
        } => {
            let data =
                json!({ "instance": instance, "subStatus": sub_status, "entries": &**journal });
            ("committed", Some(instance), data)
        }
        Event::Task(task) => ("task", Some(&task.instance), json!({ "task": task })),
        Event::NotStarted { instance } => (
            "notStarted",
            Some(instance),
            json!({ "instance": instance }),
        ),
        Event::Buried { id, error } => ("buried", None, json!({ "id": id, "error": error })),
        _ => return None,
    };
    let is_wanted = only.is_none_or(|only| of == Some(only));
    is_wanted.then(|| sse::Event::default().event(name).data(data.to_string()))
}
