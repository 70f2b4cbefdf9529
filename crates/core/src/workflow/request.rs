//! What a client can ask for.

use super::{BookmarkId, DefinitionHandle, ExecutionId, InstanceId, Values};
use serde::{Deserialize, Serialize};

/// A new instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Create {
    /// Of what.
    pub definition: DefinitionHandle,
    /// What it is given.
    #[serde(default)]
    pub input: Values,
    /// By what stimuli can find it together with others: an order number, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who waits for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Of several with one key, one is created, and the others are answered with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Create {
    /// Of `definition`, given nothing.
    #[must_use]
    pub fn new(definition: DefinitionHandle) -> Self {
        Self {
            definition,
            input: Values::new(),
            correlation: None,
            name: None,
            parent: None,
            key: None,
        }
    }

    /// What it is given.
    #[must_use]
    pub fn input(mut self, input: Values) -> Self {
        self.input = input;
        self
    }

    /// By what stimuli can find it together with others.
    #[must_use]
    pub fn correlation(mut self, correlation: impl Into<String>) -> Self {
        self.correlation = Some(correlation.into());
        self
    }

    /// What people call it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Who waits for its end.
    #[must_use]
    pub fn parent(mut self, parent: Parent) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Of several with one key, one is created.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// An instance that created another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The instance.
    pub instance: InstanceId,
    /// The execution in it that is told of the other's end, if one waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ExecutionId>,
}

/// One burst of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Run {
    /// Where to begin.
    pub target: Target,
    /// What is delivered there.
    pub input: Values,
}

impl Run {
    /// A burst that begins at `target`.
    #[must_use]
    pub fn at(target: Target) -> Self {
        Self {
            target,
            input: Values::new(),
        }
    }

    /// What is delivered there.
    #[must_use]
    pub fn input(mut self, input: Values) -> Self {
        self.input = input;
        self
    }
}

/// Where a burst begins. Said by whoever asks, never guessed from the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// At the root, if nothing was executed yet; otherwise with what was scheduled and interrupted. An instance
    /// that waits stays as it is.
    #[default]
    Continue,
    /// At the root, by a trigger in the definition, which is completed at once.
    Trigger(super::NodeId),
    /// At this bookmark, if it is still there.
    Bookmark(BookmarkId),
    /// At this execution, which failed: once more.
    Retry(ExecutionId),
}

/// A new instance and its first burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateAndRun {
    /// The instance.
    pub create: Create,
    /// Its first burst.
    #[serde(default)]
    pub run: Run,
}

impl CreateAndRun {
    /// From the root.
    #[must_use]
    pub fn new(create: Create) -> Self {
        Self {
            create,
            run: Run::default(),
        }
    }

    /// From elsewhere.
    #[must_use]
    pub fn run(mut self, run: Run) -> Self {
        self.run = run;
        self
    }
}
