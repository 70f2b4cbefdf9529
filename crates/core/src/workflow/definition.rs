//! Which version of which workflow.

use super::{DefinitionId, VersionId};
use serde::{Deserialize, Serialize};

/// How to name one version of a workflow. An instance is made of one version and stays with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DefinitionHandle {
    /// This one.
    Version(VersionId),
    /// One of a workflow's, as it is when somebody asks.
    Of {
        /// The workflow.
        definition: DefinitionId,
        /// Which of its versions.
        select: VersionSelect,
    },
}

impl DefinitionHandle {
    /// The published version of `definition`.
    #[must_use]
    pub const fn published(definition: DefinitionId) -> Self {
        Self::Of {
            definition,
            select: VersionSelect::Published,
        }
    }
}

/// Which of a workflow's versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VersionSelect {
    /// The one that is published.
    Published,
    /// The one with the highest number.
    Latest,
    /// The one with the highest number, if it is not published.
    Draft,
    /// The one that is published, otherwise the one with the highest number.
    PublishedOrLatest,
    /// The one with this number.
    Number(u32),
}
