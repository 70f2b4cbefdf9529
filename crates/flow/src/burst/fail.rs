//! What happens when an activity fails: it is tried again, somebody around it helps, or there is an incident.

use super::{
    Burst, MAX_STEPS,
    step::{Did, RETRY, Taken},
};
use crate::{
    activity::Step,
    definition::Retry,
    journal::Happened,
    signal::Signal,
    state::{Number, Work},
};
use lockwork_core::workflow::{
    ActivityStatus, Failure, Incident, IncidentStrategy, Result, SubStatus, Value,
};
use std::time::Duration;

/// The name of the stimulus that begins an execution again, if somebody does not want to wait for its time.
const NAME: &str = "Retry";

impl Burst {
    pub(super) fn fail(
        &mut self,
        number: Number,
        failure: Failure,
    ) -> Result<Option<(Number, Did)>> {
        let failure = Failure {
            code: self.hide(failure.code),
            message: self.hide(failure.message),
            ..failure
        };
        self.cancel_inside(number);
        self.withdraw(number);
        let note = format!("{}: {}", failure.code, failure.message);
        self.note(Happened::Faulted, Some(number), Some(note));
        if self.again(number, &failure)? {
            return Ok(None);
        }
        match self.offer(number, &Signal::Failed(failure.clone()))? {
            Some((helper, Taken::Ends)) => Ok(Some((helper, Ok(Step::done())))),
            // It waits for what it has scheduled, or has to hear that there is nothing.
            Some((helper, Taken::GoesOn)) => Ok(Some((helper, Ok(Step::Wait)))),
            Some((_, Taken::BeginsAgain)) => Ok(None),
            None => {
                self.incident(number, failure)?;
                Ok(None)
            }
        }
    }

    /// Whether its retry policy begins it again, for something that failed in it. What is under way inside of it ends.
    pub(super) fn again(&mut self, number: Number, failure: &Failure) -> Result<bool> {
        let Some(policy) = self.vertex(number)?.retry.clone() else {
            return Ok(false);
        };
        let worth = policy.on.is_empty() || policy.on.contains(&failure.code);
        // In this burst, whatever is tried again fails again.
        let endless = self.steps > MAX_STEPS;
        let retried = self.context(number)?.retried;
        if !worth || retried >= policy.times || endless {
            return Ok(false);
        }
        self.cancel_inside(number);
        self.withdraw(number);
        let wait = wait(&policy, retried);
        self.later(number, wait)?;
        if let Some(context) = self.context_mut(number) {
            context.retried += 1;
            context.attempt += 1;
            context.status = ActivityStatus::Pending;
            context.data = Value::Null;
        }
        let (times, millis) = (policy.times, wait.as_millis());
        let note = format!("{} of {times}, after {millis} ms", retried + 1);
        self.note(Happened::Retrying, Some(number), Some(note));
        Ok(true)
    }

    /// Has an execution begun again after a while.
    fn later(&mut self, number: Number, wait: Duration) -> Result<()> {
        if wait.is_zero() {
            self.state.queue.push_back(Work::Execute(number));
            return Ok(());
        }
        let due = self.outside.now().after(wait);
        self.wait_for(number, super::Waiting::until(NAME, due).at(RETRY))?;
        Ok(())
    }

    fn incident(&mut self, number: Number, failure: Failure) -> Result<()> {
        let vertex = self.vertex(number)?;
        let incident = Incident {
            node: vertex.id.clone(),
            activity: vertex.kind.clone(),
            execution: lockwork_core::workflow::ExecutionId::numbered(number),
            at: self.outside.now(),
            failure,
        };
        self.state.incidents.push(incident);
        if let Some(context) = self.context_mut(number) {
            context.status = ActivityStatus::Faulted;
        }
        match self.graph.definition().options.incidents {
            IncidentStrategy::Fault => self.over(SubStatus::Faulted),
            IncidentStrategy::Continue => {}
        }
        Ok(())
    }
}

/// How long to wait before the next time.
fn wait(policy: &Retry, retried: u32) -> Duration {
    let first = policy.after.as_duration();
    // No time at all, times without end, would be no number.
    if first.is_zero() {
        return first;
    }
    let times = retried.try_into().unwrap_or(i32::MAX);
    let grown = first.as_secs_f64() * policy.factor.max(0.0).powi(times);
    let most = policy
        .at_most
        .map_or(Duration::MAX, |most| most.as_duration());
    Duration::try_from_secs_f64(grown)
        .unwrap_or(Duration::MAX)
        .min(most)
}
