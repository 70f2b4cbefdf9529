//! Workflows as their authors write them, in JSON or in Rust.

mod duration;
mod input;
mod json;
mod node;
pub(crate) mod read;

pub use duration::{Length, NotALength};
pub use input::Input;
pub use node::{Contents, Node, Retry};

pub(crate) use input::tagged as read_input;

use lockwork_core::workflow::{DefinitionId, Error, ErrorKind, IncidentStrategy, Result, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The form of definitions that this version reads and writes.
pub const FORMAT: u32 = 1;

/// A workflow: what it takes, what it remembers, what it gives, and the activity it begins with.
///
/// ```
/// use lockwork_flow::Definition;
///
/// let json = r#"{
///   "lockwork": 1,
///   "id": "greeting",
///   "inputs": [{ "name": "who" }],
///   "root": { "type": "Log", "id": "hello", "with": { "text": { "$text": "Hello {{ input.who }}" } } }
/// }"#;
/// let greeting = Definition::from_json(json)?;
/// assert_eq!(greeting.root.kind, "Log");
/// # Ok::<(), lockwork_flow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Definition {
    lockwork: u32,
    /// What it is called by programs.
    pub id: DefinitionId,
    /// What it is called by people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What an instance is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Parameter>,
    /// What an instance gives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Parameter>,
    /// What an instance remembers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// How it is run.
    #[serde(skip_serializing_if = "Options::are_usual")]
    pub options: Options,
    /// The activity it begins with.
    pub root: Node,
}

/// Everything but the activities.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Head {
    pub(crate) lockwork: u32,
    pub(crate) id: DefinitionId,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) inputs: Vec<Parameter>,
    #[serde(default)]
    pub(crate) outputs: Vec<Parameter>,
    #[serde(default)]
    pub(crate) variables: Vec<Variable>,
    #[serde(default)]
    pub(crate) options: Options,
}

impl Definition {
    /// A workflow that begins with `root`.
    #[must_use]
    pub fn new(id: DefinitionId, root: Node) -> Self {
        Self {
            lockwork: FORMAT,
            id,
            name: None,
            description: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            variables: Vec::new(),
            options: Options::default(),
            root,
        }
    }

    /// Reads a definition.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if this is no definition, with the node and the field that are wrong;
    /// [`ErrorKind::Unsupported`] if it was written for a newer version.
    pub fn from_json(json: &str) -> Result<Self> {
        let json = serde_json::from_str(json).map_err(|error| {
            let message =
                format!("a definition is JSON, not nested too deep, and this is not: {error}");
            Error::new(ErrorKind::Invalid, message)
        })?;
        Self::from_value(json)
    }

    /// Reads a definition that was read as JSON already.
    ///
    /// # Errors
    /// Those of [`from_json`](Self::from_json).
    pub fn from_value(json: Value) -> Result<Self> {
        json::definition(json)
    }

    /// As JSON, with a line for each field.
    ///
    /// # Panics
    /// Never: a definition is made of what JSON can say.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a definition is made of what JSON can say")
    }

    fn of(head: Head, root: Node) -> Result<Self> {
        let definition = Self {
            lockwork: head.lockwork,
            id: head.id,
            name: head.name,
            description: head.description,
            inputs: head.inputs,
            outputs: head.outputs,
            variables: head.variables,
            options: head.options,
            root,
        };
        definition.names_are_different()?;
        Ok(definition)
    }

    fn names_are_different(&self) -> Result<()> {
        once("inputs", self.inputs.iter().map(|one| &one.name))?;
        once("outputs", self.outputs.iter().map(|one| &one.name))?;
        once("variables", self.variables.iter().map(|one| &one.name))?;
        let unsaid = self.variables.iter().find(|one| !can_be_said(&one.name));
        match unsaid {
            None => Ok(()),
            Some(one) => {
                let message = "no expression can say this name: write letters, digits and `_`, and neither `input`, \
                               `output` and `instance` nor a word of expressions";
                Err(Error::new(ErrorKind::Invalid, message)
                    .with("field", "variables")
                    .with("name", &one.name))
            }
        }
    }
}

/// Words that mean something else in an expression.
const TAKEN: [&str; 16] = [
    "input", "output", "instance", "true", "false", "none", "True", "False", "None", "and", "or",
    "not", "in", "is", "if", "else",
];

/// Whether an expression can ask for what is called `name`.
fn can_be_said(name: &str) -> bool {
    let begins = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(begins)
        && name
            .chars()
            .all(|letter| begins(letter) || letter.is_ascii_digit())
        && !TAKEN.contains(&name)
}

fn once<'a>(
    field: &'static str,
    mut names: impl Iterator<Item = &'a String> + Clone,
) -> Result<()> {
    if names.clone().any(String::is_empty) {
        return Err(Error::new(ErrorKind::Invalid, "a name is not empty").with("field", field));
    }
    let mut seen = BTreeSet::new();
    match names.find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(ErrorKind::Invalid, "this name is there twice")
            .with("field", field)
            .with("name", name)),
    }
}

/// What an instance is given, or gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// What it is called.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether an instance cannot be created without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether nobody may see it: it is in no journal, no log and no export.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

impl Parameter {
    /// One that may be missing.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: None,
            required: false,
            secret: false,
        }
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// An instance cannot be created without.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Nobody may see it.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self
    }
}

impl From<&str> for Parameter {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// What an instance remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variable {
    /// What it is called.
    pub name: String,
    /// What it is at first.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// Whether nobody may see it: it is in no journal, no log and no export.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

impl Variable {
    /// One that is `value` at first.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            secret: false,
        }
    }
}

/// How a workflow is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Options {
    /// How many instances of it may run at once.
    #[serde(skip_serializing_if = "is_usual")]
    pub activation: Activation,
    /// What becomes of an instance in which an activity fails.
    #[serde(skip_serializing_if = "is_usual")]
    pub incidents: IncidentStrategy,
    /// How often what happened is written down.
    #[serde(skip_serializing_if = "is_usual")]
    pub commit: Commit,
}

impl Options {
    fn are_usual(&self) -> bool {
        is_usual(self)
    }
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How many instances of a workflow may run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Activation {
    /// As many as there are.
    #[default]
    Any,
    /// One.
    Single,
    /// One for each correlation, whatever its definition.
    Correlation,
    /// One of this definition for each correlation.
    SingleCorrelation,
}

/// How often what happened is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Commit {
    /// When an instance waits or is over. What a node that died had done since is done again.
    #[default]
    Burst,
    /// After each activity.
    Step,
}
