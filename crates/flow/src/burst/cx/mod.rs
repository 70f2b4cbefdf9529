//! What an activity can see and do while it is executed.

mod effects;
mod given;

use super::{Burst, Waiting, size::fits};
use crate::{
    graph::Vertex,
    journal::Happened,
    outside::Told,
    signal::Signal,
    state::{Context, Number, Work},
};
use lockwork_core::workflow::{
    BookmarkId, DefinitionHandle, Error, ErrorKind, ExecutionId, Failure, InstanceId, NodeId,
    Result, Time, Value, Values, VersionId,
};

/// What an activity can see and do while it is executed.
///
/// Nothing it does leaves the instance before the burst is committed.
#[derive(Debug)]
pub struct Cx<'b> {
    burst: &'b mut Burst,
    number: Number,
    place: usize,
}

impl<'b> Cx<'b> {
    pub(super) fn new(burst: &'b mut Burst, number: Number) -> Result<Self> {
        let place = burst.place(number)?;
        Ok(Self {
            burst,
            number,
            place,
        })
    }

    /// For an activity that is called next.
    pub(super) fn begin(burst: &'b mut Burst, number: Number) -> Result<Self> {
        let cx = Self::new(burst, number)?;
        if cx.burst.outside.is_lost() {
            let message = "the turn of this instance is over: nothing more of this burst counts";
            return Err(Error::new(ErrorKind::Fenced, message).with("instance", cx.instance()));
        }
        Ok(cx)
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &InstanceId {
        &self.burst.state.instance
    }

    /// By what stimuli find the instance together with others.
    #[must_use]
    pub fn correlation(&self) -> Option<&str> {
        self.burst.state.correlation.as_deref()
    }

    /// Which execution this is.
    #[must_use]
    pub fn execution(&self) -> ExecutionId {
        ExecutionId::numbered(self.number)
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Time {
        self.burst.outside.now()
    }

    /// The same when this execution is run again because a node died half way, another when it is tried again on
    /// purpose: by this, others can tell that a request is the same.
    #[must_use]
    pub fn key(&self) -> String {
        let attempt = self.context().map_or(0, |context| context.attempt);
        format!("{}:{}:{attempt}", self.instance(), self.number)
    }

    /// A number that rises with each burst of the instance, for foreign systems that can compare.
    #[must_use]
    pub fn fence(&self) -> Option<u64> {
        self.burst.outside.fence()
    }

    /// Ends when nothing of this burst counts any more.
    #[must_use]
    pub fn lost(&self) -> Told<'static, ()> {
        self.burst.outside.lost()
    }

    /// Which version `handle` means at this moment.
    ///
    /// # Errors
    /// That nobody knows such a definition, or that nobody could say. If that may pass, the burst ends whatever the activity
    /// makes of it, and is run again later from its last commit: that the store was away for a moment says nothing about
    /// the instance.
    pub async fn version(&mut self, handle: &DefinitionHandle) -> Result<VersionId, Failure> {
        let asked = self.burst.outside.version(handle).await;
        asked.map_err(|error| {
            let code = match error.kind() {
                ErrorKind::NotFound => "definition.missing",
                _ => "definition.unknown",
            };
            let failure = Failure::new(code, error.to_string());
            if error.is_transient() {
                self.burst.said.away = Some(error);
            }
            failure
        })
    }

    fn context(&self) -> Option<&Context> {
        self.burst.state.contexts.get(&self.number)
    }

    fn vertex(&self) -> Option<&Vertex> {
        self.burst.graph.vertex(self.place)
    }

    /// What this execution remembers.
    #[must_use]
    pub fn data(&self) -> &Value {
        self.context().map_or(&Value::Null, |context| &context.data)
    }

    /// What this execution remembers, where it is.
    pub(crate) fn data_mut(&mut self) -> Option<&mut Value> {
        let context = self.burst.context_mut(self.number)?;
        Some(&mut context.data)
    }

    /// What this execution remembers, to be changed.
    pub fn remember(&mut self, data: Value) {
        if let Some(context) = self.burst.context_mut(self.number) {
            context.data = data;
        }
    }

    /// The names of those it contains, in their order. Those in a list have none.
    pub fn children(&self) -> impl Iterator<Item = Option<&str>> {
        let children = self
            .vertex()
            .into_iter()
            .flat_map(|vertex| &vertex.children);
        children.map(|(port, _)| port.as_deref())
    }

    /// Which of those it contains stands at `port`.
    #[must_use]
    pub fn port(&self, port: &str) -> Option<usize> {
        self.children().position(|name| name == Some(port))
    }

    /// How many of those it has scheduled are not over.
    #[must_use]
    pub fn active(&self) -> usize {
        self.burst.inside(self.number).len()
    }

    /// Which of those it contains are scheduled and not over.
    pub fn active_children(&self) -> impl Iterator<Item = usize> {
        let contexts = &self.burst.state.contexts;
        let active = self.burst.inside(self.number);
        let active = active.filter_map(|number| contexts.get(&number));
        let places = active.filter_map(|context| self.burst.graph.find(&context.node).ok());
        places.filter_map(|place| {
            let children = &self.vertex()?.children;
            children.iter().position(|(_, at)| *at == place)
        })
    }

    /// Has the one at `index` executed, as soon as it is its turn.
    pub fn schedule(&mut self, index: usize) {
        self.schedule_with(index, Value::Null, Values::new());
    }

    /// The same, with something to recognise it by, and with names that it and those inside of it know besides.
    pub fn schedule_with(&mut self, index: usize, tag: Value, scope: Values) {
        let child = self.vertex().and_then(|vertex| vertex.children.get(index));
        let child = child.and_then(|(_, place)| self.burst.graph.vertex(*place));
        let Some(node) = child.map(|vertex| vertex.id.clone()) else {
            return;
        };
        let context = Context {
            owner: Some(self.number),
            tag,
            scope,
            ..Context::new(node)
        };
        let number = self.burst.enter(context);
        self.burst.state.queue.push_back(Work::Execute(number));
    }

    /// Cancels whatever of the one at `index` is under way.
    pub fn withdraw(&mut self, index: usize) {
        let node = self.vertex().and_then(|vertex| vertex.children.get(index));
        let node = node.and_then(|(_, place)| self.burst.graph.vertex(*place));
        let Some(node) = node.map(|vertex| vertex.id.clone()) else {
            return;
        };
        let active: Vec<_> = self.burst.inside(self.number).collect();
        for number in active {
            if self
                .burst
                .context(number)
                .is_ok_and(|context| context.node == node)
            {
                self.burst.cancel(number);
            }
        }
    }

    /// Waits. Gives the bookmark's id.
    ///
    /// # Errors
    /// `stimulus`, if what it waits for is too long or has no name.
    pub fn wait(&mut self, waiting: Waiting) -> Result<BookmarkId, Failure> {
        let made = self.burst.wait_for(self.number, waiting);
        made.map_err(|error| Failure::new("stimulus", error.to_string()))
    }

    /// By what this execution was started, if a trigger has started the instance with it.
    pub fn triggered(&mut self) -> Option<Values> {
        let node = self.vertex().map(|vertex| vertex.id.clone())?;
        let trigger = self
            .burst
            .state
            .trigger
            .take_if(|trigger| trigger.node == node)?;
        Some(trigger.input)
    }

    /// Where it stands in its definition.
    #[must_use]
    pub fn node(&self) -> Option<&NodeId> {
        self.vertex().map(|vertex| &vertex.id)
    }

    /// What it gives, if it is done with this.
    pub fn give(&mut self, value: Value) {
        self.burst.said.gives = Some(value);
    }

    /// Something for those around: they are asked after this.
    pub fn raise(&mut self, signal: Signal) {
        self.burst.said.raised = Some(signal);
    }

    /// The instance comes to its end after this.
    pub fn finish(&mut self) {
        self.burst.said.finish = true;
    }

    /// Changes a variable.
    ///
    /// # Errors
    /// `value.large`, if the value is, or nested too deep.
    pub fn set_variable(&mut self, name: impl Into<String>, value: Value) -> Result<(), Failure> {
        self.burst.set_variable(name.into(), value)
    }

    /// Changes what the instance gives.
    ///
    /// # Errors
    /// `value.large`, if the value is, or nested too deep.
    pub fn set_output(&mut self, name: impl Into<String>, value: Value) -> Result<(), Failure> {
        let name = name.into();
        fits(&name, &value)?;
        self.burst.state.output.insert(name, value);
        Ok(())
    }

    /// The instance does not give this any more.
    pub(crate) fn withdraw_output(&mut self, name: &str) {
        self.burst.state.output.remove(name);
    }

    /// Changes by what stimuli find the instance together with others.
    pub fn correlate(&mut self, correlation: String) {
        self.burst.state.correlation = Some(correlation);
    }

    /// Changes what people call the instance.
    pub fn rename(&mut self, name: String) {
        self.burst.state.name = Some(name);
    }

    /// Writes into the journal.
    pub fn log(&mut self, text: String) {
        let text = self.burst.hide(text);
        self.burst
            .note(Happened::Logged, Some(self.number), Some(text));
    }
}

impl Burst {
    pub(super) fn set_variable(&mut self, name: String, value: Value) -> Result<(), Failure> {
        fits(&name, &value)?;
        self.state.variables.insert(name, value);
        Ok(())
    }
}
