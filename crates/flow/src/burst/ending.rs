//! How executions and instances end.

use super::{Burst, Cx};
use crate::{effect::Effect, journal::Happened, state::Number};
use lockwork_core::workflow::{
    Addressee, ExecutionId, InstanceId, Parent, Status, Stimulus, SubStatus, Value, Values,
};
use std::sync::Arc;

impl Burst {
    /// Ends the instance: nothing more of it is executed, and whatever it waits for is called off.
    pub fn cancel_all(&mut self) {
        if self.state.sub_status.status() == Status::Finished {
            return;
        }
        self.clear();
        self.over(SubStatus::Cancelled);
    }

    /// Stops between two steps. Whoever continues goes on from here.
    pub fn interrupt(&mut self) {
        if self.state.sub_status.status() == Status::Running && !self.state.queue.is_empty() {
            self.state.sub_status = SubStatus::Interrupted;
            self.note(Happened::InstanceInterrupted, None, None);
        }
    }

    /// The instance comes to its end, whatever is still under way in it.
    pub(super) fn finish(&mut self) {
        self.clear();
        self.over(SubStatus::Finished);
    }

    /// There is nothing left to do.
    pub(super) fn settle(&mut self) {
        match self.state.contexts.is_empty() {
            true if self.state.sub_status == SubStatus::Pending => {}
            true => self.over(SubStatus::Finished),
            false if self.state.sub_status == SubStatus::Suspended => {}
            false => {
                self.state.sub_status = SubStatus::Suspended;
                self.note(Happened::InstanceSuspended, None, None);
            }
        }
    }

    /// Nothing changes it any more, unless somebody retries what failed.
    pub(super) fn over(&mut self, sub_status: SubStatus) {
        let happened = match sub_status {
            SubStatus::Cancelled => Happened::InstanceCancelled,
            SubStatus::Faulted => Happened::InstanceFaulted,
            _ => Happened::InstanceFinished,
        };
        self.state.sub_status = sub_status;
        self.state.finished = Some(self.outside.now());
        self.note(happened, None, None);
        self.tell_parent();
    }

    fn tell_parent(&mut self) {
        if let Some(stimulus) = ended(&self.state) {
            self.written.effects.push(Effect::Send(stimulus));
        }
    }

    fn clear(&mut self) {
        let outermost = self.state.contexts.iter();
        let outermost = outermost.filter(|(_, context)| context.owner.is_none());
        let outermost: Vec<_> = outermost.map(|(number, _)| *number).collect();
        outermost.into_iter().for_each(|number| self.cancel(number));
        self.state.queue.clear();
        self.state.bookmarks.clear();
    }

    pub(super) fn cancel_inside(&mut self, number: Number) {
        let inside: Vec<_> = self.inside(number).collect();
        inside.into_iter().for_each(|number| self.cancel(number));
    }

    /// Ends an execution and those inside of it: what they had in the queue is withdrawn, nobody can resume them,
    /// and what they have asked others to do is called off.
    pub(super) fn cancel(&mut self, number: Number) {
        self.cancel_inside(number);
        self.withdraw(number);
        if let Ok(activity) = self
            .vertex(number)
            .map(|vertex| Arc::clone(&vertex.activity))
            && let Ok(mut cx) = Cx::new(self, number)
        {
            activity.cancelled(&mut cx);
        }
        self.note(Happened::Cancelled, Some(number), None);
        self.leave(number);
        let execution = ExecutionId::numbered(number);
        self.state
            .incidents
            .retain(|incident| incident.execution != execution);
    }

    /// Nothing of an execution is to be done, and nobody can resume it.
    pub(super) fn withdraw(&mut self, number: Number) {
        self.state.queue.retain(|work| work.execution() != number);
        self.forget_bookmarks(number);
    }

    pub(super) fn forget_bookmarks(&mut self, number: Number) {
        let execution = ExecutionId::numbered(number);
        let bookmarks = &mut self.state.bookmarks;
        bookmarks.retain(|bookmark| bookmark.execution != execution);
    }
}

/// What tells the parent of an instance in this `state` that it is over, if one waits for that. The same each time.
#[must_use]
pub fn ended(state: &crate::State) -> Option<Stimulus> {
    let parent = state.parent.as_ref()?;
    tell(
        parent,
        &state.instance,
        state.sub_status,
        ("output", state.output.clone().into()),
    )
}

/// What tells the parent of an instance that it will never be, if one waits for it.
#[must_use]
pub fn never_began(parent: &Parent, instance: &InstanceId, why: &str) -> Option<Stimulus> {
    tell(parent, instance, SubStatus::Faulted, ("error", why.into()))
}

fn tell(
    parent: &Parent,
    child: &InstanceId,
    status: SubStatus,
    result: (&str, Value),
) -> Option<Stimulus> {
    let waiting = parent.waiting.clone()?;
    let payload = crate::activities::child_payload(&parent.instance, &waiting);
    let input = Values::from_iter([
        ("instance".to_owned(), Value::from(child.as_str())),
        (
            "status".to_owned(),
            serde_json::to_value(status).unwrap_or_default(),
        ),
        (result.0.to_owned(), result.1),
    ]);
    let mut to = Addressee::default();
    to.instance = Some(parent.instance.clone());
    to.execution = Some(waiting);
    let stimulus = Stimulus::new(crate::activities::CHILD, &payload).ok()?;
    Some(stimulus.to(to).input(input).key(format!("{child}:end")))
}
