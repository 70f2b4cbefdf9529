//! Long work, done outside of the instances that wait for it.

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "shell")]
mod shell;
mod worker;

pub(crate) use worker::JobWorker;

use lockwork_core::workflow::{Failure, InstanceId, Value};
use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

/// What work is given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JobCall {
    /// The instance that waits for it.
    pub instance: InstanceId,
    /// What the definition gives it.
    pub with: Value,
    /// The same when it is done again because a node died, another when it is tried again on purpose.
    pub key: String,
    /// How often somebody began with it, this time included.
    pub attempt: u32,
}

type Working = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;
type Function = dyn Fn(JobCall) -> Working + Send + Sync;

/// Who can do what.
#[derive(Clone, Default)]
pub(crate) struct Jobs(BTreeMap<String, Arc<Function>>);

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Jobs {
    /// What can be done without anybody's help.
    pub(crate) fn standard() -> Self {
        let jobs = Self::default();
        #[cfg(feature = "http")]
        let jobs = jobs.with("http", http::request);
        jobs
    }

    #[cfg(feature = "shell")]
    pub(crate) fn with_shell(self) -> Self {
        self.with("shell", shell::run)
    }

    pub(crate) fn with<F, W>(mut self, kind: impl Into<String>, work: F) -> Self
    where
        F: Fn(JobCall) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        let work: Arc<Function> = Arc::new(move |call| Box::pin(work(call)));
        self.0.insert(kind.into(), work);
        self
    }

    fn begin(&self, kind: &str, call: JobCall) -> Working {
        match self.0.get(kind) {
            Some(work) => work(call),
            None => {
                let message = format!(
                    "this node cannot do `{kind}`: register it, or enable the feature that brings it"
                );
                Box::pin(std::future::ready(Err(Failure::new(
                    "job.unknown",
                    message,
                ))))
            }
        }
    }
}
