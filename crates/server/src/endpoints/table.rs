//! Which routes there are: those of every version, because instances of any of them may wait.
//!
//! All nodes find them in the store. What was read is used for a moment, so that many requests cost one reading; who asks
//! for what nobody knows waits for a reading that began after it came, so that no route is missed that was there before.
//! Whom a request reaches is decided by the store alone, by the hash of the route: what is old here misleads nobody.

use lockwork_core::workflow::{DefinitionId, Result};
use lockwork_flow::Endpoint;
use lockwork_runtime::Store;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// For how long what was read is used, and how long to wait between two readings.
pub(crate) const FRESH: Duration = Duration::from_millis(200);

/// Which routes there are, as they were read the last time.
#[derive(Debug, Default)]
pub(crate) struct Table {
    last: Mutex<Option<(Instant, Arc<Routes>)>>,
    reading: tokio::sync::Mutex<()>,
}

impl Table {
    /// The routes, as they were at this moment or later.
    pub(crate) async fn since(&self, moment: Instant, store: &dyn Store) -> Result<Arc<Routes>> {
        if let Some((_, routes)) = self.last().filter(|(read, _)| *read >= moment) {
            return Ok(routes);
        }
        // Of many who want to know, one reads.
        let _reading = self.reading.lock().await;
        match self.last() {
            Some((read, routes)) if read >= moment => return Ok(routes),
            Some((read, _)) => tokio::time::sleep_until(read + FRESH).await,
            None => {}
        }
        let began = Instant::now();
        let routes = Arc::new(Routes::read(store).await?);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((began, Arc::clone(&routes)));
        Ok(routes)
    }

    fn last(&self) -> Option<(Instant, Arc<Routes>)> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }
}

/// All routes that workflows name.
#[derive(Debug, Default)]
pub(crate) struct Routes(Vec<Named>);

/// A route, and who names it.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) definition: DefinitionId,
    pub(crate) published: bool,
    pub(crate) endpoint: Endpoint,
}

impl Routes {
    async fn read(store: &dyn Store) -> Result<Self> {
        let rows = store.versions(None).await?;
        let mut all = Vec::new();
        for row in rows {
            let named = Endpoint::all(&row.definition).into_iter();
            all.extend(named.map(|endpoint| Named {
                definition: row.definition.id.clone(),
                published: row.published,
                endpoint,
            }));
        }
        Ok(Self(all))
    }

    /// Those that mean a path: what their parameters stand for, with all that have one shape together. Those that say most
    /// of the path come first.
    pub(crate) fn of<'r>(&'r self, path: &[String]) -> Vec<(Vec<String>, Vec<&'r Named>)> {
        let mut found: BTreeMap<_, (Vec<String>, Vec<&Named>)> = BTreeMap::new();
        for named in &self.0 {
            let route = &named.endpoint.route;
            if let Some(values) = route.read(path) {
                let all = found.entry(route.vagueness());
                all.or_insert((values, Vec::new())).1.push(named);
            }
        }
        found.into_values().collect()
    }
}
