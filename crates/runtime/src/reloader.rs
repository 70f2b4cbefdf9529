//! Publishes what the program and its folders define.

use crate::{definitions::Definitions, refresher::RefreshStatus};
use lockwork_core::workflow::{Answer, DefinitionId, Result};
use lockwork_flow::Definition;
use std::{fmt, sync::Arc};

/// Where definitions come from: the program, a folder, a service.
pub trait DefinitionProvider: fmt::Debug + Send + Sync {
    /// All it has.
    fn definitions(&self) -> Answer<'_, Vec<Definition>>;
}

/// Those that a program has written down.
impl DefinitionProvider for Vec<Definition> {
    fn definitions(&self) -> Answer<'_, Vec<Definition>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// Asks all providers again, and publishes what they have.
pub trait DefinitionsReloader: fmt::Debug + Send + Sync {
    /// All of it. What has not changed is no new version.
    fn reload(&self) -> Answer<'_, Reloaded>;
}

/// What was published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Of these.
    pub published: Vec<DefinitionId>,
    /// Whether it was done.
    pub status: RefreshStatus,
}

/// On this node.
#[derive(Debug)]
pub(crate) struct LocalReloader {
    pub(crate) definitions: Arc<Definitions>,
    pub(crate) providers: Vec<Arc<dyn DefinitionProvider>>,
}

impl LocalReloader {
    async fn all(&self) -> Result<Reloaded> {
        let mut reloaded = Reloaded::default();
        for provider in &self.providers {
            for definition in provider.definitions().await? {
                let row = self.definitions.publish(definition).await?;
                reloaded.published.push(row.definition.id.clone());
            }
        }
        Ok(reloaded)
    }
}

impl DefinitionsReloader for LocalReloader {
    fn reload(&self) -> Answer<'_, Reloaded> {
        Box::pin(self.all())
    }
}
