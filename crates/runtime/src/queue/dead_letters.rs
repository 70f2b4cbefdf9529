//! What was not done, for people who look after it.

use super::Processor;
use crate::{ids, store::DeadLetter};
use lockwork_core::workflow::{Error, ErrorKind, Result};

/// What was not done.
#[derive(Clone, Debug)]
pub struct DeadLetters {
    pub(crate) processor: Processor,
}

impl DeadLetters {
    /// All of them.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn list(&self) -> Result<Vec<DeadLetter>> {
        self.processor.runner.store.dead_letters().await
    }

    /// Tries one once more. Gives the name under which that happens.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if there is none, or somebody has done that before.
    pub async fn replay(&self, id: &str) -> Result<String> {
        let runner = &self.processor.runner;
        let (again, now) = (format!("replay/{}", ids::random()), runner.clock.now());
        let expires = now.after(self.processor.options.stimulus_waits);
        if !runner.store.replay(id, &again, now, expires).await? {
            let message = "there is no such dead letter, or it was sent once more before";
            return Err(Error::new(ErrorKind::Conflict, message).with("id", id));
        }
        runner.signal.ring();
        Ok(again)
    }
}
