//! A definition made ready to be executed: every activity known, every expression compiled, every mistake found.

mod check;
mod prepared;
mod secrets;

pub(crate) use prepared::Prepared;

use crate::{
    activity::{Activity, Trigger, Wrong},
    definition::{Definition, Node, Retry},
    registry::Registry,
};
use lockwork_core::workflow::{Error, ErrorKind, NodeId, Result, StimulusHash, Values, VersionId};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// One version of a workflow, made ready to be executed.
///
/// Never changes, so all instances of a version share one.
#[derive(Debug)]
pub struct Graph {
    definition: Definition,
    version: VersionId,
    nodes: Vec<Vertex>,
    by_id: HashMap<NodeId, usize>,
    secrets: BTreeSet<String>,
}

/// One activity in it.
#[derive(Debug)]
pub(crate) struct Vertex {
    pub(crate) id: NodeId,
    pub(crate) kind: String,
    pub(crate) activity: Arc<dyn Activity>,
    pub(crate) inputs: BTreeMap<String, Prepared>,
    /// Those inputs that could be secrets, or made of some.
    pub(crate) tells: BTreeSet<String>,
    /// The names from around that could stand for secrets.
    pub(crate) hidden: BTreeSet<String>,
    /// Those it contains, by their place in the graph, with the names of their ports.
    pub(crate) children: Vec<(Option<String>, usize)>,
    pub(crate) into: Option<String>,
    pub(crate) retry: Option<Retry>,
}

/// Something that starts instances of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Starts {
    /// The activity that would wait for it.
    pub node: NodeId,
    /// What starts them.
    pub trigger: Trigger,
    /// By what a stimulus finds it.
    pub hash: StimulusHash,
}

impl Graph {
    /// Makes `definition` ready, with the activities in `registry`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] with the definition, the node and the field that cannot be: an activity nobody
    /// knows, something missing or too much, an expression that cannot be read or asks for a name nobody has.
    pub fn new(definition: Definition, version: VersionId, registry: &Registry) -> Result<Self> {
        let id = definition.id.clone();
        Self::build(definition, version, registry).map_err(|error| error.with("definition", id))
    }

    fn build(definition: Definition, version: VersionId, registry: &Registry) -> Result<Self> {
        let root = NodeId::new(definition.root.id.as_str())?;
        check::variables(&definition)?;
        let mut building = check::Building::new(&definition, registry);
        building.node(&definition.root, root)?;
        let (nodes, secrets) = building.done();
        let by_id = nodes.iter().enumerate();
        let by_id = by_id.map(|(at, vertex)| (vertex.id.clone(), at)).collect();
        let graph = Self {
            definition,
            version,
            nodes,
            by_id,
            secrets,
        };
        graph.starts()?;
        Ok(graph)
    }

    /// What it was made of.
    #[must_use]
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Which version it is.
    #[must_use]
    pub const fn version(&self) -> &VersionId {
        &self.version
    }

    /// Its activities, from the outside to the inside.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeId> {
        self.nodes.iter().map(|vertex| &vertex.id)
    }

    /// What starts instances of it.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if an activity cannot start instances, or not with what it is given.
    pub fn starts(&self) -> Result<Vec<Starts>> {
        let mut starts = Vec::new();
        self.starting(&self.definition.root, 0, &mut starts)?;
        Ok(starts)
    }

    fn starting(&self, node: &Node, at: usize, starts: &mut Vec<Starts>) -> Result<()> {
        let Some(vertex) = self.nodes.get(at) else {
            return Ok(());
        };
        if node.starts {
            let trigger = vertex.activity.trigger(node);
            let trigger = trigger.map_err(|wrong| wrong_at(&vertex.id, &wrong))?;
            let trigger = trigger.ok_or_else(|| {
                let message = "this activity waits for nothing that could start an instance";
                wrong_at(&vertex.id, &Wrong::new("starts", message))
            })?;
            starts.push(Starts {
                hash: StimulusHash::of(&trigger.name, &trigger.payload, None)
                    .map_err(|error| error.with("node", &vertex.id))?,
                node: vertex.id.clone(),
                trigger,
            });
        }
        let inside = node.children().zip(&vertex.children);
        for ((_, node), (_, at)) in inside {
            self.starting(node, *at, starts)?;
        }
        Ok(())
    }

    pub(crate) fn vertex(&self, at: usize) -> Option<&Vertex> {
        self.nodes.get(at)
    }

    pub(crate) fn find(&self, id: &NodeId) -> Result<usize> {
        self.by_id.get(id).copied().ok_or_else(|| {
            let message = "the state of this instance speaks of an activity that its definition does not have: it \
                           belongs to another version, or was changed by hand";
            Error::new(ErrorKind::Invalid, message)
                .with("definition", &self.definition.id)
                .with("node", id)
        })
    }

    /// Whether anything in it is secret.
    pub(crate) fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// Whether the variable, input or output called `name` is secret.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        self.secrets.contains(name)
    }

    /// The values of variables at first.
    pub(crate) fn variables(&self) -> Values {
        let variables = self.definition.variables.iter();
        let variables = variables.map(|one| (one.name.clone(), one.value.clone()));
        variables.collect()
    }
}

fn wrong_at(node: &NodeId, wrong: &Wrong) -> Error {
    Error::new(ErrorKind::Invalid, wrong.message.clone())
        .with("node", node)
        .with("field", &wrong.field)
}
