//! Finds out again what starts instances.

use crate::{definitions::Definitions, store::Store};
use lockwork_core::workflow::{Answer, DefinitionId, Result};
use std::{collections::BTreeSet, fmt, sync::Arc};

/// Finds out again what starts instances of published workflows: after an update of the program, say.
pub trait DefinitionsRefresher: fmt::Debug + Send + Sync {
    /// Of these, or of all.
    fn refresh(&self, ids: Option<Vec<DefinitionId>>) -> Answer<'_, Refreshed>;

    /// What all are, at this moment: those that are published.
    fn published(&self) -> Answer<'_, Vec<DefinitionId>>;
}

/// What was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// Of these.
    pub refreshed: Vec<DefinitionId>,
    /// These are not published.
    pub not_found: Vec<DefinitionId>,
    /// Somebody else is at these.
    pub busy: Vec<DefinitionId>,
    /// Whether it was done.
    pub status: RefreshStatus,
}

/// Whether something was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RefreshStatus {
    /// It was.
    #[default]
    Completed,
    /// Somebody else is at it.
    AlreadyInProgress,
}

/// On this node.
#[derive(Debug)]
pub(crate) struct LocalRefresher {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) definitions: Arc<Definitions>,
}

impl LocalRefresher {
    async fn all(&self, ids: Option<Vec<DefinitionId>>) -> Result<Refreshed> {
        let wanted: Option<BTreeSet<_>> = ids.map(|ids| ids.into_iter().collect());
        let mut refreshed = Refreshed::default();
        for row in self.store.versions(None).await? {
            let id = &row.definition.id;
            if row.published && wanted.as_ref().is_none_or(|wanted| wanted.contains(id)) {
                self.definitions.index(&row.id).await?;
                refreshed.refreshed.push(id.clone());
            }
        }
        let missing = wanted.into_iter().flatten();
        let missing = missing.filter(|id| !refreshed.refreshed.contains(id));
        refreshed.not_found = missing.collect();
        Ok(refreshed)
    }
}

impl DefinitionsRefresher for LocalRefresher {
    fn refresh(&self, ids: Option<Vec<DefinitionId>>) -> Answer<'_, Refreshed> {
        Box::pin(self.all(ids))
    }

    fn published(&self) -> Answer<'_, Vec<DefinitionId>> {
        Box::pin(async move {
            let rows = self.store.versions(None).await?.into_iter();
            let published = rows.filter(|row| row.published);
            Ok(published.map(|row| row.definition.id.clone()).collect())
        })
    }
}
