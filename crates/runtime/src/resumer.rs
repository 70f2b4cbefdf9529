//! Resumes instances whose bookmark one knows.

use crate::runner::Runner;
use lockwork_core::workflow::{
    BookmarkId, ExecutionId, InstanceId, Ran, Result, Run, Target, Values,
};
use lockwork_flow::check_input;
use std::sync::Arc;

/// Resumes instances at once, without a stimulus.
#[derive(Clone, Debug)]
pub struct WorkflowResumer {
    pub(crate) runner: Arc<Runner>,
}

impl WorkflowResumer {
    /// Resumes this bookmark. [`Ran::delivery`] says whether it was still there: if not, nothing was delivered.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if it brings more than an instance can be given, and
    /// those of [`Client::run`](lockwork_core::workflow::Client::run).
    pub async fn resume(
        &self,
        instance: &InstanceId,
        bookmark: BookmarkId,
        input: Values,
    ) -> Result<Ran> {
        check_input(&input)?;
        let run = Run::at(Target::Bookmark(bookmark)).input(input);
        self.runner.run(instance, run, None).await
    }

    /// Begins an execution again that failed.
    ///
    /// # Errors
    /// [`NotFound`](lockwork_core::workflow::ErrorKind::NotFound) if it did not, and those of
    /// [`Client::run`](lockwork_core::workflow::Client::run).
    pub async fn retry(&self, instance: &InstanceId, execution: ExecutionId) -> Result<Ran> {
        self.runner
            .run(instance, Run::at(Target::Retry(execution)), None)
            .await
    }
}
