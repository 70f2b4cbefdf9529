//! Definitions: published, found, and made ready to be executed.

use crate::{
    clock::{Clock, lock},
    store::{NewVersion, Store, TriggerRow, VersionRow},
};
use lockwork_core::workflow::{
    DefinitionHandle, DefinitionId, Error, ErrorKind, Result, Time, VersionId,
};
use lockwork_flow::{Definition, Endpoint, Graph, Registry, Schedule};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

/// Publishes definitions, and makes those that are published ready.
#[derive(Debug)]
pub struct Definitions {
    store: Arc<dyn Store>,
    registry: Registry,
    clock: Arc<dyn Clock>,
    /// A version never changes, so whatever was made of it once will do.
    graphs: Mutex<HashMap<VersionId, Arc<Graph>>>,
}

impl Definitions {
    pub(crate) fn new(store: Arc<dyn Store>, registry: Registry, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            registry,
            clock,
            graphs: Mutex::default(),
        }
    }

    /// Makes `definition` the version that counts. The same as the last one is no new version.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if it cannot be executed, with the node and the field that are wrong;
    /// [`ErrorKind::Conflict`] if requests on a route would start instances of it and of another workflow. Nothing is
    /// changed then.
    pub async fn publish(&self, definition: Definition) -> Result<VersionRow> {
        self.put(definition, true).await
    }

    /// Keeps `definition` as a version that does not count yet.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    pub async fn draft(&self, definition: Definition) -> Result<VersionRow> {
        self.put(definition, false).await
    }

    async fn put(&self, definition: Definition, publish: bool) -> Result<VersionRow> {
        let checked = VersionId::new(definition.id.as_str())?;
        let graph = Graph::new(definition.clone(), checked, &self.registry)?;
        if publish {
            self.check_routes(&definition).await?;
        }
        let now = self.clock.now();
        let triggers = triggers(&graph, now)?;
        let new = NewVersion {
            definition,
            publish,
            triggers,
            now,
        };
        self.store.put(new).await
    }

    /// A request starts one instance: of two workflows that want it, the second is refused. Two that are published at the
    /// same moment on two nodes may both be there; then whoever asks is told.
    async fn check_routes(&self, definition: &Definition) -> Result<()> {
        let mut wanted = BTreeSet::new();
        for route in started_by(definition) {
            if !wanted.insert(route.clone()) {
                return Err(taken(&route, &definition.id));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        for row in self.store.versions(None).await? {
            let is_other = row.published && row.definition.id != definition.id;
            let route = started_by(&row.definition).find(|route| wanted.contains(route));
            if let Some(route) = route.filter(|_| is_other) {
                return Err(taken(&route, &row.definition.id));
            }
        }
        Ok(())
    }

    /// Nothing starts instances of it any more, and nobody can by its id. Those that run go on.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn retract(&self, definition: &DefinitionId) -> Result<bool> {
        self.store.retract(definition).await
    }

    /// The version that is meant.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub async fn resolve(&self, handle: &DefinitionHandle) -> Result<VersionRow> {
        let found = self.store.resolve(handle).await?;
        found.ok_or_else(|| missing(handle))
    }

    /// What is executed.
    pub(crate) async fn graph(&self, version: &VersionId) -> Result<Arc<Graph>> {
        if let Some(graph) = lock(&self.graphs).get(version) {
            return Ok(Arc::clone(graph));
        }
        let row = self
            .resolve(&DefinitionHandle::Version(version.clone()))
            .await?;
        let definition = Definition::clone(&row.definition);
        let graph = Arc::new(Graph::new(definition, version.clone(), &self.registry)?);
        lock(&self.graphs).insert(version.clone(), Arc::clone(&graph));
        Ok(graph)
    }

    /// Finds out again what starts instances of a version, with the activities that this node has. Says how much is new.
    pub(crate) async fn index(&self, version: &VersionId) -> Result<usize> {
        let graph = self.graph(version).await?;
        let triggers = triggers(&graph, self.clock.now())?;
        self.store.index(version, triggers).await
    }
}

/// The routes on which requests start instances of it: method and shape.
fn started_by(definition: &Definition) -> impl Iterator<Item = (String, String)> {
    let endpoints = Endpoint::all(definition).into_iter();
    let starts = endpoints.filter(|endpoint| endpoint.starts);
    starts.map(|endpoint| (endpoint.method, endpoint.route.shape()))
}

fn taken((method, shape): &(String, String), by: &DefinitionId) -> Error {
    let message = "requests on this route start instances of a workflow already, and of one alone: choose another route, or \
                   retract that workflow";
    Error::new(ErrorKind::Conflict, message)
        .with("route", format!("{method} {shape}"))
        .with("taken by", by)
}

fn missing(handle: &DefinitionHandle) -> Error {
    let error = |message| Error::new(ErrorKind::NotFound, message);
    match handle {
        DefinitionHandle::Version(id) => error("there is no such version").with("version", id),
        DefinitionHandle::Of { definition, select } => {
            error("there is no such version of this workflow: publish it, or check its id")
                .with("definition", definition)
                .with("asked for", format!("{select:?}"))
        }
    }
}

fn triggers(graph: &Graph, now: Time) -> Result<Vec<TriggerRow>> {
    let rows = graph.starts()?.into_iter().map(|start| TriggerRow {
        node: start.node,
        hash: start.hash,
        next: start
            .trigger
            .schedule
            .as_ref()
            .and_then(|schedule| first(schedule, now)),
        schedule: start.trigger.schedule,
    });
    Ok(rows.collect())
}

/// When a schedule comes for the first time.
fn first(schedule: &Schedule, now: Time) -> Option<Time> {
    match schedule {
        Schedule::At(at) => Some(*at),
        Schedule::Every(every) => Some(now.after(every.as_duration())),
        Schedule::Cron(cron) => cron.after(now),
    }
}
