//! Reading definitions from JSON, so that whoever made a mistake is told where.

use super::{Contents, Definition, FORMAT, Input, Node, Retry, input};
use lockwork_core::workflow::{ActivityId, Error, ErrorKind, Result, Value, Values};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Activities inside of activities: more is a mistake, or meant to exhaust the stack. What reads JSON follows 128
/// levels, of which each activity takes two, and what it is given the rest.
const MAX_DEPTH: usize = 48;
/// Activities in one definition.
const MAX_NODES: usize = 10_000;

pub(super) fn definition(json: Value) -> Result<Definition> {
    let mut fields = object(json, "a definition is a JSON object")?;
    let root = fields.remove("root");
    let id = fields
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let place = |error: Error| match id.as_str() {
        "" => error,
        id => error.with("definition", id),
    };
    // First of all: a newer one may have anything in it.
    format(fields.get("lockwork")).map_err(place)?;
    let mut reading = Reading { nodes: 0 };
    let root = match root {
        Some(root) => reading.node(root, &mut Vec::new()).map_err(place)?,
        None => {
            return Err(place(wrong(
                "a definition has a `root`: the activity it begins with",
            )));
        }
    };
    let head = serde_json::from_value(Value::Object(fields)).map_err(|error| {
        let message = format!("the definition is not as it should be: {error}");
        place(Error::new(ErrorKind::Invalid, message))
    })?;
    Definition::of(head, root).map_err(place)
}

fn format(format: Option<&Value>) -> Result<()> {
    let Some(format) = format.and_then(Value::as_u64) else {
        return Ok(());
    };
    let (kind, message) = match format {
        0 => (ErrorKind::Invalid, "there is no such form of definitions"),
        format if format > FORMAT.into() => {
            let message =
                "this definition was written for a newer version of lockwork: update this program";
            (ErrorKind::Unsupported, message)
        }
        _ => return Ok(()),
    };
    Err(Error::new(kind, message).with("format", format))
}

/// What was read so far.
struct Reading {
    nodes: usize,
}

/// The ids of the activities around, for whoever looks for the mistake.
type Path = Vec<String>;

impl Reading {
    fn node(&mut self, json: Value, path: &mut Path) -> Result<Node> {
        self.nodes += 1;
        if path.len() >= MAX_DEPTH {
            return Err(at(path, wrong("activities are nested more than 48 deep")));
        }
        if self.nodes > MAX_NODES {
            return Err(wrong("a definition has at most 10000 activities: split it"));
        }
        let mut fields = object(json, "an activity is a JSON object").map_err(|e| at(path, e))?;
        let id: ActivityId = required(&mut fields, "id").map_err(|e| at(path, e))?;
        path.push(id.to_string());
        let node = self.inside(id, fields, path)?;
        path.pop();
        Ok(node)
    }

    fn inside(&mut self, id: ActivityId, mut fields: Values, path: &mut Path) -> Result<Node> {
        let here = |error| at(path, error);
        let mut node = Node::new(required::<String>(&mut fields, "type").map_err(here)?, id);
        node.starts = optional(&mut fields, "starts")
            .map_err(here)?
            .unwrap_or_default();
        node.into = optional(&mut fields, "into").map_err(here)?;
        node.retry = optional::<Retry>(&mut fields, "retry").map_err(here)?;
        node.with = inputs(&mut fields).map_err(here)?;
        let contents = fields.remove("do");
        if let Some(unknown) = fields.keys().next() {
            let message = "an activity has `type`, `id`, `starts`, `with`, `do`, `into` and `retry`, \
                           and what it is given stands in `with`";
            return Err(at(path, wrong(message).with("field", unknown)));
        }
        node.contents = self.contents(contents, path)?;
        Ok(node)
    }

    fn contents(&mut self, json: Option<Value>, path: &mut Path) -> Result<Contents> {
        Ok(match json {
            None => Contents::Nothing,
            Some(Value::Array(list)) => {
                let nodes = list.into_iter().map(|json| self.node(json, path));
                Contents::List(nodes.collect::<Result<_>>()?)
            }
            Some(Value::Object(ports)) => {
                let mut nodes = BTreeMap::new();
                for (port, json) in ports {
                    nodes.insert(port, self.node(json, path)?);
                }
                Contents::Ports(nodes)
            }
            Some(_) => {
                let message =
                    "what an activity contains is a list of activities, or an object of them";
                return Err(at(path, wrong(message).with("field", "do")));
            }
        })
    }
}

fn inputs(fields: &mut Values) -> Result<BTreeMap<String, Input>> {
    let Some(with) = fields.remove("with") else {
        return Ok(BTreeMap::new());
    };
    let with = object(with, "what an activity is given is a JSON object")
        .map_err(|error| error.with("field", "with"))?;
    Ok(with
        .into_iter()
        .map(|(name, value)| (name, input::read(value)))
        .collect())
}

fn object(json: Value, otherwise: &'static str) -> Result<Values> {
    match json {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong(otherwise)),
    }
}

fn required<T: DeserializeOwned>(fields: &mut Values, field: &'static str) -> Result<T> {
    let missing = || wrong("an activity has an `id` and a `type`").with("field", field);
    optional(fields, field)?.ok_or_else(missing)
}

fn optional<T: DeserializeOwned>(fields: &mut Values, field: &'static str) -> Result<Option<T>> {
    let Some(value) = fields.remove(field) else {
        return Ok(None);
    };
    serde_json::from_value(value).map(Some).map_err(|error| {
        Error::new(
            ErrorKind::Invalid,
            format!("this field is not as it should be: {error}"),
        )
        .with("field", field)
    })
}

fn wrong(message: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn at(path: &Path, error: Error) -> Error {
    match path.is_empty() {
        true => error,
        false => error.with("node", path.join("/")),
    }
}
