//! Where a burst begins: said by whoever asks, never guessed.

use super::Burst;
use crate::{
    journal::Happened,
    state::{Context, Triggered, Work},
};
use lockwork_core::workflow::{
    ActivityStatus, BookmarkId, Delivery, Error, ErrorKind, ExecutionId, NodeId, Result, Run,
    Status, SubStatus, Target, Value, Values,
};

impl Burst {
    /// Says what to do. Nothing is executed before the first [step](Self::step).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no execution to retry, or no activity to start with.
    pub fn begin(&mut self, run: Run) -> Result<Delivery> {
        let over = self.state.sub_status.status() == Status::Finished;
        let retries = matches!(run.target, Target::Retry(_));
        if over && !(retries && self.state.sub_status == SubStatus::Faulted) {
            return Ok(Delivery::Over);
        }
        let delivery = match run.target {
            Target::Continue => {
                self.root();
                Delivery::Done
            }
            Target::Trigger(node) => self.trigger(node, run.input)?,
            Target::Bookmark(id) => self.bookmark(&id, run.input),
            Target::Retry(execution) => self.once_more(&execution)?,
        };
        if delivery == Delivery::Done && !self.state.queue.is_empty() {
            self.state.sub_status = SubStatus::Executing;
        }
        Ok(delivery)
    }

    fn root(&mut self) {
        if self.state.sub_status != SubStatus::Pending {
            return;
        }
        self.state.variables = self.graph.variables();
        self.note(Happened::InstanceStarted, None, None);
        let Some(root) = self.graph.vertex(0) else {
            return;
        };
        let context = Context::new(root.id.clone());
        let number = self.enter(context);
        self.state.queue.push_back(Work::Execute(number));
    }

    fn trigger(&mut self, node: NodeId, input: Values) -> Result<Delivery> {
        if self.state.sub_status != SubStatus::Pending {
            return Ok(Delivery::Consumed);
        }
        self.graph.find(&node).map_err(|_| {
            let message = "there is no such activity in this definition, so nothing starts with it";
            Error::new(ErrorKind::NotFound, message).with("node", &node)
        })?;
        self.state.trigger = Some(Triggered { node, input });
        self.root();
        Ok(Delivery::Done)
    }

    fn bookmark(&mut self, id: &BookmarkId, input: Values) -> Delivery {
        let bookmarks = &mut self.state.bookmarks;
        let Some(at) = bookmarks.iter().position(|bookmark| bookmark.id == *id) else {
            return Delivery::Consumed;
        };
        let Some(bookmark) = bookmarks.get(at).cloned() else {
            return Delivery::Consumed;
        };
        if bookmark.burns {
            bookmarks.remove(at);
        }
        let Some(execution) = bookmark.execution.number() else {
            return Delivery::Consumed;
        };
        self.state.queue.push_back(Work::Resume {
            execution,
            at: bookmark.resume,
            input,
        });
        Delivery::Done
    }

    fn once_more(&mut self, execution: &ExecutionId) -> Result<Delivery> {
        let missing = || {
            let message = "there is no such execution that failed: look at the incidents";
            Error::new(ErrorKind::NotFound, message).with("execution", execution)
        };
        let number = execution.number().ok_or_else(missing)?;
        let context = self.context_mut(number);
        let context = context.filter(|context| context.status == ActivityStatus::Faulted);
        let context = context.ok_or_else(missing)?;
        context.status = ActivityStatus::Pending;
        context.attempt += 1;
        context.retried = 0;
        context.data = Value::Null;
        self.state
            .incidents
            .retain(|incident| incident.execution != *execution);
        self.state.finished = None;
        self.state.queue.push_back(Work::Execute(number));
        Ok(Delivery::Done)
    }
}
