//! Finding the mistakes of a definition before anything of it is executed.

use super::{Prepared, Vertex, secrets, wrong_at};
use crate::{
    activity::{Activity, Contains, Descriptor, Given, Wrong},
    burst::large,
    definition::{Contents, Definition, Input, Node},
    expression::{Ready, is_global},
    registry::Registry,
};
use lockwork_core::workflow::{Error, ErrorKind, NodeId, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Names that every expression knows.
const ALWAYS: [&str; 3] = ["input", "output", "instance"];

/// A graph under way.
pub(super) struct Building<'a> {
    definition: &'a Definition,
    registry: &'a Registry,
    nodes: Vec<Vertex>,
    secrets: BTreeSet<String>,
    /// What the activities around give names to, and whether that could be a secret.
    scope: Vec<(String, bool)>,
}

impl<'a> Building<'a> {
    pub(super) fn new(definition: &'a Definition, registry: &'a Registry) -> Self {
        Self {
            secrets: secrets::of(definition),
            definition,
            registry,
            nodes: Vec::new(),
            scope: Vec::new(),
        }
    }

    pub(super) fn done(self) -> (Vec<Vertex>, BTreeSet<String>) {
        (self.nodes, self.secrets)
    }

    /// Adds `node` and those inside of it. Gives its place.
    pub(super) fn node(&mut self, node: &Node, id: NodeId) -> Result<usize> {
        let activity = self.registry.get(&node.kind).ok_or_else(|| {
            let message = "there is no such activity: check its type, or register it";
            wrong_at(&id, &Wrong::new("type", message)).with("type", &node.kind)
        })?;
        let descriptor = activity.describe();
        let here = |wrong: Wrong| wrong_at(&id, &wrong);
        let inputs = self.inputs(node, &descriptor).map_err(here)?;
        contents(node, &descriptor).map_err(here)?;
        self.result(node, &descriptor).map_err(here)?;
        self.target(node, &inputs).map_err(here)?;
        activity.check(node).map_err(here)?;
        if node.starts && !descriptor.can_start {
            let message = "this activity waits for nothing that could start an instance";
            return Err(here(Wrong::new("starts", message)));
        }
        let tells = self.telling(&inputs);
        let told = !tells.is_empty();
        let at = self.nodes.len();
        self.nodes.push(Vertex {
            id: id.clone(),
            kind: node.kind.clone(),
            activity: activity.clone(),
            inputs,
            tells,
            hidden: self.hidden(),
            children: Vec::new(),
            into: node.into.clone(),
            retry: node.retry.clone(),
        });
        let children = self.children(node, &id, &**activity, told)?;
        if let Some(vertex) = self.nodes.get_mut(at) {
            vertex.children = children;
        }
        Ok(at)
    }

    fn children(
        &mut self,
        node: &Node,
        id: &NodeId,
        activity: &dyn Activity,
        tells: bool,
    ) -> Result<Vec<(Option<String>, usize)>> {
        let (mut children, mut seen) = (Vec::new(), BTreeSet::new());
        for (port, child) in node.children() {
            if !seen.insert(&child.id) {
                let message = "two activities here have the same id: give each its own";
                return Err(wrong_at(id, &Wrong::new("do", message)).with("id", &child.id));
            }
            let path = id.child(&child.id);
            let path = path.map_err(|error| error.with("node", id).with("field", "id"))?;
            // What has a name inside was made of what is given.
            let names = activity
                .names(node, port)
                .into_iter()
                .map(|name| (name, tells));
            let before = self.scope.len();
            self.scope.extend(names);
            let at = self.node(child, path)?;
            self.scope.truncate(before);
            children.push((port.map(str::to_owned), at));
        }
        Ok(children)
    }

    fn inputs(
        &self,
        node: &Node,
        descriptor: &Descriptor,
    ) -> Result<BTreeMap<String, Prepared>, Wrong> {
        for given in descriptor.inputs.iter().filter(|given| given.required) {
            if !node.with.contains_key(given.name) {
                let message = format!("{} needs this: {}", descriptor.kind, given.about);
                return Err(Wrong::new(field(given.name), message));
            }
        }
        let mut inputs = BTreeMap::new();
        for (name, input) in &node.with {
            let given = descriptor.inputs.iter().find(|given| given.name == name);
            let given = given.ok_or_else(|| unknown(name, descriptor))?;
            let prepared = self.prepared(given, input)?;
            if given.fixed && !prepared.is_plain() {
                let message =
                    "this has to be known before anything is executed: write a plain value";
                return Err(Wrong::new(field(name), message));
            }
            if given.shown && self.tells(&prepared) {
                let message = "people see this, so nothing secret may go there";
                return Err(Wrong::new(field(name), message));
            }
            inputs.insert(name.clone(), prepared);
        }
        Ok(inputs)
    }

    fn prepared(&self, given: &Given, input: &Input) -> Result<Prepared, Wrong> {
        let name = given.name;
        let known = |name: &str| self.knows(name) || given.knows.contains(&name) || is_global(name);
        let prepared = Prepared::of(input).map_err(|problem| {
            let message = format!("this expression cannot be read: {}", problem.0);
            Wrong::new(field(name), message)
        })?;
        let mut unknown = None;
        prepared.each(&mut |ready: &Ready| {
            unknown = unknown
                .take()
                .or_else(|| ready.names().find(|name| !known(name)));
        });
        match unknown {
            None => Ok(prepared),
            Some(asked) => {
                let message = format!(
                    "nobody here knows the name `{asked}`: declare a variable, or write `input.{asked}`"
                );
                Err(Wrong::new(field(name), message))
            }
        }
    }

    fn knows(&self, name: &str) -> bool {
        let variable = || self.definition.variables.iter().any(|one| one.name == name);
        ALWAYS.contains(&name) || self.scope.iter().any(|(known, _)| known == name) || variable()
    }

    /// Whether what it gives could be a secret, or made of one.
    fn tells(&self, prepared: &Prepared) -> bool {
        let told = |path: &str| {
            let name = path.split('.').next().unwrap_or(path);
            let inner = self.scope.iter().rev().find(|(known, _)| known == name);
            inner.map_or_else(|| secrets::told(path, &self.secrets), |(_, secret)| *secret)
        };
        let mut tells = false;
        prepared.each(&mut |ready| tells |= ready.paths().any(told));
        tells
    }

    fn telling(&self, inputs: &BTreeMap<String, Prepared>) -> BTreeSet<String> {
        let telling = inputs.iter().filter(|(_, input)| self.tells(input));
        telling.map(|(name, _)| name.clone()).collect()
    }

    /// The names from around that could stand for secrets.
    fn hidden(&self) -> BTreeSet<String> {
        let hidden = self.scope.iter().filter(|(_, secret)| *secret);
        hidden.map(|(name, _)| name.clone()).collect()
    }

    /// Where the result goes.
    fn result(&self, node: &Node, descriptor: &Descriptor) -> Result<(), Wrong> {
        let Some(into) = &node.into else {
            return Ok(());
        };
        if descriptor.gives.is_none() {
            let message = format!("{} gives nothing that could go there", descriptor.kind);
            return Err(Wrong::new("into", message));
        }
        self.variable("into", into)
    }

    /// A variable or an output that is set here has to be declared, and secret if its value could be.
    fn target(&self, node: &Node, inputs: &BTreeMap<String, Prepared>) -> Result<(), Wrong> {
        let name = match node.with.get("name") {
            Some(Input::Value(name)) => name.as_str().unwrap_or_default(),
            _ => return Ok(()),
        };
        let secret = match node.kind.as_str() {
            "SetVariable" => {
                self.variable("with.name", name)?;
                self.secrets.contains(name)
            }
            "SetOutput" => {
                if !self.definition.outputs.iter().any(|one| one.name == name) {
                    let message = format!("there is no output called `{name}`: declare it");
                    return Err(Wrong::new("with.name", message));
                }
                self.secrets.contains(&format!("output.{name}"))
            }
            _ => return Ok(()),
        };
        match inputs.get("value").is_some_and(|value| self.tells(value)) && !secret {
            true => {
                let message = format!("this could be a secret, and `{name}` is not marked as one");
                Err(Wrong::new("with.value", message))
            }
            false => Ok(()),
        }
    }

    fn variable(&self, field: &str, name: &str) -> Result<(), Wrong> {
        match self.definition.variables.iter().any(|one| one.name == name) {
            true => Ok(()),
            false => {
                let message = format!("there is no variable called `{name}`: declare it");
                Err(Wrong::new(field, message))
            }
        }
    }
}

/// Variables have names that stand for nothing else, and values that can be kept.
pub(super) fn variables(definition: &Definition) -> Result<()> {
    for one in &definition.variables {
        let wrong = match ALWAYS.contains(&one.name.as_str()) {
            true => Some("every expression knows this name already: choose another".to_owned()),
            false => large(&one.value).map(|large| format!("this value {large}")),
        };
        if let Some(message) = wrong {
            return Err(Error::new(ErrorKind::Invalid, message)
                .with("field", "variables")
                .with("name", &one.name));
        }
    }
    Ok(())
}

fn field(name: &str) -> String {
    format!("with.{name}")
}

fn unknown(name: &str, descriptor: &Descriptor) -> Wrong {
    let known: Vec<_> = descriptor.inputs.iter().map(|given| given.name).collect();
    let message = match known.is_empty() {
        true => format!("{} is given nothing", descriptor.kind),
        false => format!("{} is given {}", descriptor.kind, known.join(", ")),
    };
    Wrong::new(field(name), message)
}

fn contents(node: &Node, descriptor: &Descriptor) -> Result<(), Wrong> {
    let kind = descriptor.kind;
    let wrong = |message: String| Err(Wrong::new("do", message));
    match (descriptor.contains, &node.contents) {
        (Contains::Nothing, Contents::Nothing)
        | (Contains::List, Contents::List(_) | Contents::Nothing)
        | (Contains::Any, Contents::Ports(_)) => Ok(()),
        (Contains::Nothing, _) => wrong(format!("{kind} contains nothing")),
        (Contains::List, _) => wrong(format!("{kind} contains a list of activities")),
        (Contains::Any, _) => wrong(format!("{kind} contains activities by their names")),
        (Contains::Ports { required, optional }, contents) => {
            let empty = BTreeMap::new();
            let ports = match contents {
                Contents::Ports(ports) => ports,
                Contents::Nothing => &empty,
                Contents::List(_) => {
                    let names = [required, optional].concat().join(", ");
                    return wrong(format!(
                        "{kind} contains activities by these names: {names}"
                    ));
                }
            };
            if let Some(missing) = required.iter().find(|port| !ports.contains_key(**port)) {
                return wrong(format!("{kind} needs the activity `{missing}`"));
            }
            let known = |port: &&String| {
                required.contains(&port.as_str()) || optional.contains(&port.as_str())
            };
            match ports.keys().find(|port| !known(port)) {
                None => Ok(()),
                Some(port) => wrong(format!("{kind} knows no `{port}`")),
            }
        }
    }
}
