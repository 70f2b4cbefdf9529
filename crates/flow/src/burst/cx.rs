//! What an activity can see and do while it is executed.

use super::{Burst, HIDDEN, Waiting, size::fits};
use crate::{
    effect::{Effect, Job, Task},
    graph::{Prepared, Vertex},
    journal::Happened,
    outside::Told,
    signal::Signal,
    state::{Context, Number, Work},
};
use lockwork_core::workflow::{
    BookmarkId, Create, DefinitionHandle, ErrorKind, ExecutionId, Failure, InstanceId, NodeId,
    Result, Stimulus, Time, Value, Values, VersionId,
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
    /// That nobody knows such a definition, or that nobody could say.
    pub async fn version(&self, handle: &DefinitionHandle) -> Result<VersionId, Failure> {
        let asked = self.burst.outside.version(handle).await;
        asked.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::new("definition.missing", error.to_string()),
            _ if error.is_transient() => {
                Failure::new("definition.unknown", error.to_string()).may_pass()
            }
            _ => Failure::new("definition.unknown", error.to_string()),
        })
    }

    fn context(&self) -> Option<&Context> {
        self.burst.state.contexts.get(&self.number)
    }

    fn vertex(&self) -> Option<&Vertex> {
        self.burst.graph.vertex(self.place)
    }

    /// What it is given under this name, as it is now.
    ///
    /// # Errors
    /// `expression`, if the expression cannot be evaluated.
    pub fn value(&self, name: &str) -> Result<Option<Value>, Failure> {
        self.value_with(name, &Values::new())
    }

    /// What it is given under this name, if expressions know these names besides.
    ///
    /// # Errors
    /// `expression`, if the expression cannot be evaluated.
    pub fn value_with(&self, name: &str, besides: &Values) -> Result<Option<Value>, Failure> {
        let Some(input) = self.vertex().and_then(|vertex| vertex.inputs.get(name)) else {
            return Ok(None);
        };
        let known = |name: &str| besides.get(name).cloned().or_else(|| self.known(name));
        self.evaluate(input, &known).map(Some).map_err(|message| {
            Failure::new(
                "expression",
                format!("`{name}` cannot be evaluated: {message}"),
            )
        })
    }

    /// What it is given under this name, if the definition says it plainly.
    pub(crate) fn plain(&self, name: &str) -> Option<&Value> {
        match self.vertex()?.inputs.get(name)? {
            Prepared::Value(value) => Some(value),
            _ => None,
        }
    }

    /// What it is given under this name, as people may see it: where it is made of secrets, those are left out.
    ///
    /// # Errors
    /// Those of [`value`](Self::value).
    pub fn shown(&self, name: &str) -> Result<Option<Value>, Failure> {
        let value = self.value(name)?;
        let told = self.vertex().filter(|vertex| vertex.tells.contains(name));
        let Some(input) = told.and_then(|vertex| vertex.inputs.get(name)) else {
            return Ok(value);
        };
        let seen = self.evaluate(input, &|name| Some(self.veiled(name, self.known(name)?)));
        // With something else in its place it may make no sense, and then it is better not seen at all.
        Ok(Some(seen.unwrap_or_else(|_| HIDDEN.into())))
    }

    fn veiled(&self, name: &str, mut value: Value) -> Value {
        let graph = &self.burst.graph;
        let inner = self
            .vertex()
            .is_some_and(|vertex| vertex.hidden.contains(name));
        if inner || graph.is_secret(name) {
            return HIDDEN.into();
        }
        if let ("input" | "output", Value::Object(fields)) = (name, &mut value) {
            let secret = fields
                .iter_mut()
                .filter(|(field, _)| graph.is_secret(&format!("{name}.{field}")));
            secret.for_each(|(_, value)| *value = HIDDEN.into());
        }
        value
    }

    fn evaluate(
        &self,
        input: &Prepared,
        known: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Value, String> {
        let known = |ready: &crate::expression::Ready| {
            let names = ready.names();
            let names = names.filter_map(|name| Some((name.to_owned(), known(name)?)));
            names.collect()
        };
        input.evaluate(&known).map_err(|problem| problem.0)
    }

    /// What stands for `name` here: from the inside to the outside.
    fn known(&self, name: &str) -> Option<Value> {
        let state = &self.burst.state;
        let mut around = Some(self.number);
        while let Some(context) = around.and_then(|number| state.contexts.get(&number)) {
            if let Some(value) = context.scope.get(name) {
                return Some(value.clone());
            }
            around = context.owner;
        }
        if let Some(value) = state.variables.get(name) {
            return Some(value.clone());
        }
        match name {
            "input" => Some(Value::Object(state.input.clone())),
            "output" => Some(Value::Object(state.output.clone())),
            "instance" => Some(serde_json::json!({
                "id": state.instance,
                "correlation": state.correlation,
                "name": state.name,
            })),
            _ => None,
        }
    }

    /// What it is given under this name, which has to be text.
    ///
    /// # Errors
    /// That it is not.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        text(name, self.value(name)?)
    }

    /// The same, as people may see it.
    ///
    /// # Errors
    /// That it is not.
    pub fn shown_text(&self, name: &str) -> Result<Option<String>, Failure> {
        text(name, self.shown(name)?)
    }

    /// What it is given under this name, which has to be there and to be text.
    ///
    /// # Errors
    /// That it is not.
    pub fn required_text(&self, name: &str) -> Result<String, Failure> {
        let missing = || Failure::new("input.missing", format!("`{name}` is not given"));
        self.text(name)?.ok_or_else(missing)
    }

    /// What it is given under this name, which has to be true or false.
    ///
    /// # Errors
    /// That it is neither.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.value(name)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(yes)) => Ok(Some(yes)),
            Some(other) => Err(unfit(name, "true or false", &other)),
        }
    }

    /// What it is given under this name, which has to be a list.
    ///
    /// # Errors
    /// That it is not.
    pub fn list(&self, name: &str) -> Result<Vec<Value>, Failure> {
        match self.value(name)? {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(unfit(name, "a list", &other)),
        }
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

impl Burst {
    pub(super) fn set_variable(&mut self, name: String, value: Value) -> Result<(), Failure> {
        fits(&name, &value)?;
        self.state.variables.insert(name, value);
        Ok(())
    }
}

fn text(name: &str, value: Option<Value>) -> Result<Option<String>, Failure> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(unfit(name, "a text", &other)),
    }
}

fn unfit(name: &str, wanted: &str, got: &Value) -> Failure {
    let got = match got {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Failure::new(
        "input.type",
        format!("`{name}` has to be {wanted} and is {got}"),
    )
}
