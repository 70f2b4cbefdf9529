//! One step: one thing off the queue, and what follows from it.

use super::{Burst, Cx, MAX_STEPS, Progress, Said};
use crate::{
    activity::{Child, Step},
    journal::Happened,
    signal::{Answer, Signal},
    state::{Number, Work},
};
use lockwork_core::workflow::{
    ActivityStatus, ExecutionId, Failure, Result, Status, SubStatus, Value, Values,
};
use std::sync::Arc;

/// Where the engine itself goes on: an execution begins again.
pub(super) const RETRY: &str = "$retry";

/// What an activity did, or why it could not.
pub(super) type Did = Result<Step, Failure>;

/// What became of an activity that has taken a signal.
pub(super) enum Taken {
    /// It is done.
    Ends,
    /// It goes on with what it has scheduled.
    GoesOn,
    /// Its retry policy begins it again.
    BeginsAgain,
}

impl Burst {
    /// Does the next thing there is to do.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if the state does not fit the
    /// definition; [`ErrorKind::Fenced`](lockwork_core::workflow::ErrorKind::Fenced) if an activity would have begun after
    /// the burst [was lost](crate::Outside::is_lost), and what [`Outside::version`](crate::Outside::version) says that may
    /// pass: nothing of it may be written down. That an activity failed is no error: it is in the state.
    pub async fn step(&mut self) -> Result<Progress> {
        if self.state.sub_status.status() == Status::Finished {
            return Ok(Progress::Idle);
        }
        let Some(work) = self.state.queue.pop_front() else {
            self.settle();
            return Ok(Progress::Idle);
        };
        self.steps += 1;
        self.state.sub_status = SubStatus::Executing;
        // What was withdrawn is not in the queue, but a state may have been changed by hand.
        if self.state.contexts.contains_key(&work.execution()) {
            let (number, did) = self.work(work).await?;
            self.follow(number, did).await?;
        }
        match self.state.sub_status.status() {
            Status::Finished => Ok(Progress::Idle),
            Status::Running => Ok(Progress::More),
        }
    }

    async fn work(&mut self, work: Work) -> Result<(Number, Did)> {
        let number = work.execution();
        if self.steps > MAX_STEPS {
            let message =
                format!("{MAX_STEPS} steps without waiting: is there a loop without an end?");
            return Ok((number, Err(Failure::new("burst.endless", message))));
        }
        self.said = Said::default();
        let did = match work {
            Work::Execute(_) => self.execute(number).await?,
            Work::Resume { at, input, .. } => self.resume(number, at, input).await?,
        };
        Ok((number, did))
    }

    async fn execute(&mut self, number: Number) -> Result<Did> {
        if let Some(context) = self.context_mut(number) {
            context.status = ActivityStatus::Running;
        }
        self.note(Happened::Started, Some(number), None);
        let activity = Arc::clone(&self.vertex(number)?.activity);
        let mut cx = Cx::begin(self, number)?;
        Ok(activity.execute(&mut cx).await)
    }

    async fn resume(&mut self, number: Number, at: Option<String>, input: Values) -> Result<Did> {
        if at.as_deref() == Some(RETRY) {
            return self.execute(number).await;
        }
        self.note(Happened::Resumed, Some(number), at.clone());
        match at {
            None => {
                self.said.gives = Some(Value::Object(input));
                Ok(Ok(Step::done()))
            }
            Some(at) => {
                let activity = Arc::clone(&self.vertex(number)?.activity);
                let mut cx = Cx::begin(self, number)?;
                Ok(activity.resume(&mut cx, &at, input).await)
            }
        }
    }

    /// What follows from what an activity did: those around it are told, until one of them has to wait.
    async fn follow(&mut self, mut number: Number, mut did: Did) -> Result<()> {
        loop {
            let said = std::mem::take(&mut self.said);
            if let Some(away) = said.away {
                return Err(away);
            }
            if said.finish {
                self.finish();
                return Ok(());
            }
            if let (Ok(_), Some(signal)) = (&did, said.raised) {
                match self.raise(number, &signal)? {
                    Some(next) => (number, did) = next,
                    None => return Ok(()),
                }
                continue;
            }
            let next = match did {
                Err(failure) => self.fail(number, failure)?,
                Ok(Step::Wait) if self.waits(number) => None,
                Ok(Step::Wait) => {
                    let message = "the activity waits, and nothing will ever resume it";
                    Some((number, Err(Failure::new("stalled", message))))
                }
                Ok(Step::Done { outcome }) => {
                    let given = self.store(number, said.gives);
                    match given {
                        Err(failure) => Some((number, Err(failure))),
                        Ok(()) => self.complete(number, outcome).await?,
                    }
                }
            };
            match next {
                Some(next) => (number, did) = next,
                None => return Ok(()),
            }
        }
    }

    /// Whether somebody will resume it.
    fn waits(&self, number: Number) -> bool {
        self.inside(number).len() > 0 || self.bookmarked(number)
    }

    fn bookmarked(&self, number: Number) -> bool {
        let execution = ExecutionId::numbered(number);
        // The one that was made last is usually the one.
        let mut bookmarks = self.state.bookmarks.iter().rev();
        bookmarks.any(|bookmark| bookmark.execution == execution)
    }

    /// The result goes to its variable.
    fn store(&mut self, number: Number, given: Option<Value>) -> Result<(), Failure> {
        let Ok(vertex) = self.vertex(number) else {
            return Ok(());
        };
        match (vertex.into.clone(), given) {
            (Some(into), Some(value)) => self.set_variable(into, value),
            _ => Ok(()),
        }
    }

    /// An execution is over, and the one around it is told.
    async fn complete(&mut self, number: Number, outcome: String) -> Result<Option<(Number, Did)>> {
        self.cancel_inside(number);
        self.forget_bookmarks(number);
        let way = self.hide_way(number, &outcome);
        self.note(Happened::Completed, Some(number), Some(way));
        let Some(context) = self.leave(number) else {
            return Ok(None);
        };
        let Some(owner) = context.owner else {
            return Ok(None);
        };
        let child = Child {
            index: self.index_of(owner, &context.node)?,
            node: context.node,
            tag: context.tag,
            outcome,
        };
        let activity = Arc::clone(&self.vertex(owner)?.activity);
        let mut cx = Cx::begin(self, owner)?;
        let did = activity.child_done(&mut cx, &child).await;
        Ok(Some((owner, did)))
    }

    fn index_of(&self, owner: Number, node: &lockwork_core::workflow::NodeId) -> Result<usize> {
        let place = self.graph.find(node)?;
        let children = &self.vertex(owner)?.children;
        Ok(children
            .iter()
            .position(|(_, at)| *at == place)
            .unwrap_or_default())
    }

    /// Offers `signal` to those around, from the inside to the outside. Whoever takes it goes on.
    pub(super) fn offer(
        &mut self,
        from: Number,
        signal: &Signal,
    ) -> Result<Option<(Number, Taken)>> {
        let mut around = self.context(from)?.owner;
        while let Some(number) = around {
            let inside: Vec<_> = self.inside(number).collect();
            let activity = Arc::clone(&self.vertex(number)?.activity);
            let answer = activity.signal(&mut Cx::new(self, number)?, signal);
            let taken = match (answer, signal) {
                (Answer::Done, _) => Taken::Ends,
                (Answer::Handled, _) => Taken::GoesOn,
                (Answer::Pass, Signal::Failed(failure)) if self.again(number, failure)? => {
                    return Ok(Some((number, Taken::BeginsAgain)));
                }
                (Answer::Pass, _) => {
                    around = self.context(number)?.owner;
                    continue;
                }
            };
            inside.into_iter().for_each(|number| self.cancel(number));
            return Ok(Some((number, taken)));
        }
        Ok(None)
    }

    fn raise(&mut self, from: Number, signal: &Signal) -> Result<Option<(Number, Did)>> {
        Ok(match self.offer(from, signal)? {
            Some((number, Taken::Ends)) => Some((number, Ok(Step::done()))),
            Some((number, Taken::GoesOn)) => Some((number, Ok(Step::Wait))),
            Some((_, Taken::BeginsAgain)) => None,
            None => {
                let message = "there is no loop around this activity that could end";
                Some((from, Err(Failure::new("break.outside", message))))
            }
        })
    }
}
