//! What leaves the instance: collected, and carried out once the burst is committed.

use super::Cx;
use crate::{
    burst::Waiting,
    effect::{Effect, Job, Task},
};
use lockwork_core::workflow::{BookmarkId, Create, Failure, InstanceId, Stimulus, Value};

impl Cx<'_> {
    /// Something happened, for others or for this instance. It is known once the burst is committed.
    pub fn send(&mut self, stimulus: Stimulus) {
        let number = self.burst.state.number();
        let key = format!("{}:{number}", self.burst.state.instance);
        self.burst
            .written
            .effects
            .push(Effect::Send(stimulus.key(key)));
    }

    /// Has another instance created and run. Gives its id.
    ///
    /// # Errors
    /// `instance.id`, if there are too many generations.
    pub fn dispatch(&mut self, create: Create) -> Result<InstanceId, Failure> {
        let number = self.burst.state.number();
        let instance = InstanceId::new(&format!("{}.{number}", self.burst.state.instance));
        let instance = instance.map_err(|error| Failure::new("instance.id", error.to_string()))?;
        self.burst.written.effects.push(Effect::Dispatch {
            instance: instance.clone(),
            create,
        });
        Ok(instance)
    }

    /// Has another instance ended.
    pub fn cancel(&mut self, instance: InstanceId) {
        self.burst.written.effects.push(Effect::Cancel(instance));
    }

    /// Has long work done outside of the instance, and waits for it: the activity goes on `at` that point.
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait).
    pub fn job(&mut self, kind: &str, with: Value, at: &str) -> Result<(), Failure> {
        let waiting = Waiting::on(crate::activities::JOB, Value::Null)
            .alone()
            .at(at);
        let bookmark = self.wait(waiting)?;
        let job = Job {
            kind: kind.to_owned(),
            with,
            key: self.key(),
        };
        self.burst
            .written
            .effects
            .push(Effect::Job { bookmark, job });
        Ok(())
    }

    /// Asks somebody outside to do something, for which `bookmark` waits.
    pub fn task(&mut self, bookmark: BookmarkId, id: String, name: String, payload: Value) {
        let instance = self.burst.state.instance.clone();
        let task = Task {
            id,
            name,
            payload,
            instance,
        };
        let effect = Effect::Task { bookmark, task };
        self.burst.written.effects.push(effect);
    }
}
