//! One node at a time finds out again what starts instances.

use crate::{error::of_lock, options::DistributedOptions, releases::Releases};
use lockwork_core::{
    lock::{Locks, Name},
    workflow::{Answer, DefinitionId, Result},
};
use lockwork_runtime::{DefinitionsRefresher, RefreshStatus, Refreshed};
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, sync::Arc};

const KEY: &str = "WorkflowDefinitionsRefresher";

/// Goes around the refresher of a node: if another one refreshes the same, this one does not.
///
/// The lock is `WorkflowDefinitionsRefresher:All`, or `WorkflowDefinitionsRefresher:` with the ids, sorted and joined by
/// commas; a list that is too long for a name is known by its SHA-256. Refreshing all and refreshing some do not wait for
/// each other: the store keeps them apart.
#[derive(Debug)]
pub struct DistributedDefinitionsRefresher {
    pub(crate) inner: Arc<dyn DefinitionsRefresher>,
    pub(crate) locks: Locks,
    pub(crate) options: Arc<DistributedOptions>,
    pub(crate) releases: Releases,
}

impl DistributedDefinitionsRefresher {
    async fn locked(&self, ids: Option<Vec<DefinitionId>>) -> Result<Refreshed> {
        let key = key(ids.as_deref());
        let lock = self.locks.mutex(&key);
        let guard = lock.lock_with(self.options.at_once()).await;
        let Some(guard) = guard.map_err(|error| of_lock(error, &key))? else {
            tracing::info!(lock = key, "another node refreshes these definitions");
            let mut refreshed = Refreshed::default();
            refreshed.busy = match ids {
                Some(ids) => ids,
                None => self.inner.published().await?,
            };
            refreshed.status = RefreshStatus::AlreadyInProgress;
            return Ok(refreshed);
        };
        let refreshed = self.inner.refresh(ids).await;
        self.releases.now(guard).await;
        refreshed
    }
}

fn key(ids: Option<&[DefinitionId]>) -> String {
    let Some(ids) = ids else {
        return format!("{KEY}:All");
    };
    let ids: BTreeSet<_> = ids.iter().map(DefinitionId::as_str).collect();
    let ids = ids.into_iter().collect::<Vec<_>>().join(",");
    let key = format!("{KEY}:{ids}");
    match key.len() > Name::MAX_BYTES {
        false => key,
        true => {
            let hash = Sha256::digest(ids.as_bytes());
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{KEY}:sha256:{hex}")
        }
    }
}

impl DefinitionsRefresher for DistributedDefinitionsRefresher {
    /// With [`AlreadyInProgress`](RefreshStatus::AlreadyInProgress), [`Refreshed::busy`] has the ids that were asked for; if all
    /// were, those that are published.
    fn refresh(&self, ids: Option<Vec<DefinitionId>>) -> Answer<'_, Refreshed> {
        Box::pin(self.locked(ids))
    }

    fn published(&self) -> Answer<'_, Vec<DefinitionId>> {
        self.inner.published()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<DefinitionId> {
        let ids = ids.iter().map(|id| DefinitionId::new(id));
        ids.collect::<Result<_>>().unwrap()
    }

    #[test]
    fn the_key_says_what_is_refreshed() {
        assert_eq!(key(None), "WorkflowDefinitionsRefresher:All");
        let some = ids(&["pay", "order", "pay"]);
        assert_eq!(key(Some(&some)), "WorkflowDefinitionsRefresher:order,pay");
    }

    #[test]
    fn a_list_too_long_for_a_name_is_known_by_its_hash() {
        let long: Vec<_> = (0..200)
            .map(|number| format!("workflow-{number}"))
            .collect();
        let long: Vec<_> = long.iter().map(String::as_str).collect();
        let key = key(Some(&ids(&long)));
        let hash = key.strip_prefix("WorkflowDefinitionsRefresher:sha256:");
        assert_eq!(hash.map(str::len), Some(64), "{key}");
    }

    #[test]
    fn the_longest_list_that_fits_is_named() {
        let fits = "x".repeat(256);
        let some = ids(&[&fits, &fits[1..], &fits[2..]]);
        assert!(
            key(Some(&some)).len() > 700,
            "256 bytes each, and not a hash"
        );
    }
}
