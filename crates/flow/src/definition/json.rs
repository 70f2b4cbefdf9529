//! Definitions in JSON, as they are before anybody has checked them.

use super::{
    Definition, FORMAT, Input, Node, Retry, input,
    read::{self, Inside, Unread, wrong},
};
use lockwork_core::workflow::{ActivityId, Error, ErrorKind, Result, Value, Values};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

pub(super) fn definition(mut json: Value) -> Result<Definition> {
    let fields = object(&mut json, "a definition is a JSON object")?;
    let root = fields.remove("root");
    // For editors: it says nothing about the workflow.
    fields.remove("$schema");
    let id = fields.get("id").and_then(Value::as_str);
    let id = id.unwrap_or_default().to_owned();
    // First of all: a newer one may have anything in it.
    let format = format(fields.get("lockwork"));
    read::definition(&id, format.map(|()| root), || {
        serde_json::from_value(json).map_err(|error| {
            let message = format!("the definition is not as it should be: {error}");
            Error::new(ErrorKind::Invalid, message)
        })
    })
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

impl Unread for Value {
    fn id(&mut self) -> Result<ActivityId> {
        required(activity(self)?, "id")
    }

    fn open(mut self, id: ActivityId) -> Result<(Node, Inside<Self>)> {
        let fields = activity(&mut self)?;
        let mut node = Node::new(required::<String>(fields, "type")?, id);
        node.starts = optional(fields, "starts")?.unwrap_or_default();
        node.into = optional(fields, "into")?;
        node.retry = optional::<Retry>(fields, "retry")?;
        node.with = inputs(fields)?;
        let inside = inside(fields)?;
        match fields.keys().next() {
            None => Ok((node, inside)),
            Some(unknown) => {
                let message = "an activity has `type`, `id`, `starts`, `with`, `do`, `into` and `retry`, and what \
                               it is given stands in `with`";
                Err(wrong(message).with("field", unknown))
            }
        }
    }
}

fn activity(json: &mut Value) -> Result<&mut Values> {
    object(json, "an activity is a JSON object")
}

fn inputs(fields: &mut Values) -> Result<BTreeMap<String, Input>> {
    let mut with = fields
        .remove("with")
        .unwrap_or_else(|| Values::new().into());
    let with = object(&mut with, "what an activity is given is a JSON object")
        .map_err(|error| error.with("field", "with"))?;
    let with = std::mem::take(with).into_iter();
    Ok(with
        .map(|(name, value)| (name, input::read(value)))
        .collect())
}

fn inside(fields: &mut Values) -> Result<Inside<Value>> {
    match fields.remove("do") {
        None => Ok(Inside::Nothing),
        Some(Value::Array(list)) => Ok(Inside::List(list)),
        Some(Value::Object(ports)) => Ok(Inside::Ports(ports.into_iter().collect())),
        Some(_) => {
            let message = "what an activity contains is a list of activities, or an object of them";
            Err(wrong(message).with("field", "do"))
        }
    }
}

fn object<'a>(json: &'a mut Value, otherwise: &'static str) -> Result<&'a mut Values> {
    json.as_object_mut().ok_or_else(|| wrong(otherwise))
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
