//! A whole definition.

use super::Draft;
use crate::definition::{
    Activation, Commit, Definition, FORMAT, Head, Options, Parameter, Variable, read,
};
use lockwork_core::workflow::{DefinitionId, IncidentStrategy, Result, Value};

/// A definition that is not built yet.
#[derive(Clone, Debug)]
#[must_use = "a workflow is nothing before it is built"]
pub struct Workflow {
    id: String,
    name: Option<String>,
    description: Option<String>,
    inputs: Vec<Parameter>,
    outputs: Vec<Parameter>,
    variables: Vec<Variable>,
    options: Options,
    root: Option<Draft>,
}

/// A workflow that programs call `id`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let greeting = workflow("greeting")
///     .name("A greeting")
///     .input("who")
///     .root(log("hello", text("Hello {{ input.who }}")))
///     .build()?;
/// assert_eq!(greeting.root.kind, "Log");
/// # Ok::<(), lockwork_flow::Error>(())
/// ```
pub fn workflow(id: impl Into<String>) -> Workflow {
    Workflow {
        id: id.into(),
        name: None,
        description: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        variables: Vec::new(),
        options: Options::default(),
        root: None,
    }
}

impl Workflow {
    /// What people call it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What it is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Something that an instance is given.
    ///
    /// ```
    /// use lockwork_flow::{Parameter, build::*};
    ///
    /// let draft = workflow("login").input("user").input(Parameter::new("password").required().secret());
    /// ```
    pub fn input(mut self, input: impl Into<Parameter>) -> Self {
        self.inputs.push(input.into());
        self
    }

    /// Something that an instance gives.
    pub fn output(mut self, output: impl Into<Parameter>) -> Self {
        self.outputs.push(output.into());
        self
    }

    /// Something that an instance remembers, and what it is at first.
    ///
    /// ```
    /// use lockwork_flow::build::*;
    /// use serde_json::json;
    ///
    /// let draft = workflow("count").variable("total", 0).variable("seen", json!([])).variable("last", ());
    /// ```
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.push(Variable::new(name, value));
        self
    }

    /// The same, and nobody may see it: it is in no journal, no log and no export.
    pub fn secret_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let mut variable = Variable::new(name, value);
        variable.secret = true;
        self.variables.push(variable);
        self
    }

    /// How many instances of it may run at once.
    ///
    /// ```
    /// use lockwork_flow::{Activation, Commit, build::*};
    ///
    /// let draft = workflow("one-at-a-time").activation(Activation::Single).commit(Commit::Step);
    /// ```
    pub fn activation(mut self, activation: Activation) -> Self {
        self.options.activation = activation;
        self
    }

    /// What becomes of an instance in which an activity fails.
    pub fn incidents(mut self, incidents: IncidentStrategy) -> Self {
        self.options.incidents = incidents;
        self
    }

    /// How often what happened is written down.
    pub fn commit(mut self, commit: Commit) -> Self {
        self.options.commit = commit;
        self
    }

    /// The activity it begins with.
    pub fn root(mut self, root: Draft) -> Self {
        self.root = Some(root);
        self
    }

    /// The definition, which is the one that its JSON would give.
    ///
    /// # Errors
    /// Those of [`Definition::from_json`], with the definition and the node:
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let nameless = workflow("greeting").root(sequence("main", [log("", "Hello")]));
    /// let error = nameless.build().unwrap_err().to_string();
    /// assert!(error.contains("an id is not empty"));
    /// assert!(error.contains("definition=greeting") && error.contains("node=main"));
    /// ```
    pub fn build(self) -> Result<Definition> {
        let id = self.id;
        read::definition(&id, Ok(self.root), || {
            Ok(Head {
                lockwork: FORMAT,
                id: DefinitionId::new(&id)?,
                name: self.name,
                description: self.description,
                inputs: self.inputs,
                outputs: self.outputs,
                variables: self.variables,
                options: self.options,
            })
        })
    }
}
