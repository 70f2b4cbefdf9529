//! Which activities there are.

use crate::{
    activities::{self, Call, Code, Coded},
    activity::Activity,
    around::{Around, Surrounded},
};
use lockwork_core::workflow::{Failure, Value};
use std::{collections::BTreeMap, future::Future, sync::Arc};

/// Which activities there are, by the names that definitions give them.
///
/// ```
/// use lockwork_flow::Registry;
/// use serde_json::json;
///
/// let registry = Registry::standard().code("add", |call| async move {
///     let sum = call.args["a"].as_i64().unwrap_or(0) + call.args["b"].as_i64().unwrap_or(0);
///     Ok(json!(sum))
/// });
/// assert!(registry.kinds().any(|kind| kind == "Sequence"));
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    activities: BTreeMap<&'static str, Arc<dyn Activity>>,
    codes: BTreeMap<String, Code>,
}

impl Registry {
    /// None at all.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            activities: BTreeMap::new(),
            codes: BTreeMap::new(),
        }
    }

    /// Those of this crate.
    #[must_use]
    pub fn standard() -> Self {
        activities::standard(Self::empty())
    }

    /// And this one. It takes the place of another with the same name.
    #[must_use]
    pub fn with(mut self, activity: impl Activity + 'static) -> Self {
        self.activities
            .insert(activity.describe().kind, Arc::new(activity));
        self
    }

    /// And a function of this program, which definitions call by `name` in a `Call`.
    ///
    /// It runs while the instance is locked, so it should be short; [`Coded::key`] is the same whenever it is
    /// called again because a node died half way.
    #[must_use]
    pub fn code<F, D>(mut self, name: impl Into<String>, code: F) -> Self
    where
        F: Fn(Coded) -> D + Send + Sync + 'static,
        D: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.codes.insert(name.into(), Code::new(code));
        let codes = self.codes.clone();
        self.with(Call::new(codes))
    }

    /// The same, and `around` is done around each call of each. Whatever is registered later has nothing around it.
    ///
    /// ```
    /// use lockwork_flow::{Around, Calling, Cx, Doing, Registry};
    ///
    /// /// Says what is called.
    /// #[derive(Debug)]
    /// struct Saying;
    ///
    /// impl Around for Saying {
    ///     fn around<'a>(&'a self, cx: &'a mut Cx<'_>, calling: Calling<'a>) -> Doing<'a> {
    ///         println!("{} of {}", calling.method(), calling.kind());
    ///         calling.call(cx)
    ///     }
    /// }
    ///
    /// let registry = Registry::standard().around(Saying);
    /// assert_eq!(registry.kinds().count(), Registry::standard().kinds().count());
    /// ```
    #[must_use]
    pub fn around(mut self, around: impl Around + 'static) -> Self {
        let around: Arc<dyn Around> = Arc::new(around);
        for activity in self.activities.values_mut() {
            *activity = Arc::new(Surrounded {
                activity: Arc::clone(activity),
                around: Arc::clone(&around),
            });
        }
        self
    }

    /// What they are called.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.activities.keys().copied()
    }

    /// Each of them.
    pub fn activities(&self) -> impl Iterator<Item = &dyn Activity> {
        self.activities.values().map(|activity| &**activity)
    }

    pub(crate) fn get(&self, kind: &str) -> Option<&Arc<dyn Activity>> {
        self.activities.get(kind)
    }
}
