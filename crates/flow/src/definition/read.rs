//! Reading definitions, from JSON or from drafts in Rust, so that whoever made a mistake is told where.

use super::{Contents, Definition, Head, Node, Retry};
use lockwork_core::workflow::{ActivityId, Error, ErrorKind, Result};

/// Activities inside of activities: more is a mistake, or meant to exhaust the stack. Each is two levels of JSON, of
/// which `serde_json` reads 128, so that there are some left for values.
const MAX_DEPTH: usize = 48;
/// Activities in one definition.
const MAX_NODES: usize = 10_000;

/// An activity that nobody has checked yet: an object of JSON, or a draft in Rust.
pub(crate) trait Unread: Sized {
    /// What its author calls it.
    fn id(&mut self) -> Result<ActivityId>;

    /// All but what it contains, and that.
    fn open(self, id: ActivityId) -> Result<(Node, Inside<Self>)>;
}

/// What such an activity contains.
#[derive(Clone, Debug)]
pub(crate) enum Inside<T> {
    Nothing,
    List(Vec<T>),
    Ports(Vec<(String, T)>),
}

/// The definition that is called `id`, if that can be read.
pub(crate) fn definition<T: Unread>(
    id: &str,
    root: Result<Option<T>>,
    head: impl FnOnce() -> Result<Head>,
) -> Result<Definition> {
    let read = || {
        let missing = || wrong("a definition has a `root`: the activity it begins with");
        let root = root?.ok_or_else(missing)?;
        let root = Reading { nodes: 0 }.node(root, &mut Vec::new())?;
        Definition::of(head()?, root)
    };
    read().map_err(|error| match id {
        "" => error,
        id => error.with("definition", id),
    })
}

/// What was read so far.
struct Reading {
    nodes: usize,
}

/// The ids of the activities around, for whoever looks for the mistake.
type Path = Vec<String>;

impl Reading {
    fn node(&mut self, mut unread: impl Unread, path: &mut Path) -> Result<Node> {
        self.nodes += 1;
        if path.len() >= MAX_DEPTH {
            return Err(at(path, wrong("activities are nested more than 48 deep")));
        }
        if self.nodes > MAX_NODES {
            return Err(wrong("a definition has at most 10000 activities: split it"));
        }
        let id = unread.id().map_err(|error| at(path, error))?;
        path.push(id.to_string());
        let (mut node, inside) = unread.open(id).map_err(|error| at(path, error))?;
        retry(node.retry.as_ref()).map_err(|error| at(path, error))?;
        node.contents = self.contents(inside, path)?;
        path.pop();
        Ok(node)
    }

    fn contents(&mut self, inside: Inside<impl Unread>, path: &mut Path) -> Result<Contents> {
        Ok(match inside {
            Inside::Nothing => Contents::Nothing,
            Inside::List(list) => {
                let nodes = list.into_iter().map(|unread| self.node(unread, path));
                Contents::List(nodes.collect::<Result<_>>()?)
            }
            Inside::Ports(ports) => {
                let nodes = ports
                    .into_iter()
                    .map(|(port, unread)| Ok((port, self.node(unread, path)?)));
                Contents::Ports(nodes.collect::<Result<_>>()?)
            }
        })
    }
}

/// JSON has no word for what is no number, so a draft that has one could not be written.
fn retry(retry: Option<&Retry>) -> Result<()> {
    match retry {
        Some(retry) if !retry.factor.is_finite() || retry.factor < 0.0 => {
            let message = "each wait is some number of times as long as the one before: write one that is not negative";
            Err(wrong(message).with("field", "retry.factor"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn wrong(message: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn at(path: &Path, error: Error) -> Error {
    match path.is_empty() {
        true => error,
        false => error.with("node", path.join("/")),
    }
}
