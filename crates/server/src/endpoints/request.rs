//! What a request brings to a workflow.

use crate::problem::Problem;
use axum::{
    extract::Query,
    http::{HeaderMap, Uri},
};
use lockwork_core::{
    lock::unescaped,
    workflow::{Addressee, Value, Values},
};
use lockwork_flow::is_step;
use serde_json::json;

/// Names the one instance that a request is for.
const INSTANCE: &str = "lockwork-instance";

/// Names the correlation of the instances that a request is for.
const CORRELATION: &str = "lockwork-correlation";

/// The parts of a path below `base`. Nothing, if no route can mean it: a part that is empty or leads elsewhere. What is
/// written in two ways is not made one.
pub(crate) fn parts(base: &str, path: &str) -> Result<Option<Vec<String>>, Problem> {
    let Some(rest) = path
        .strip_prefix(base)
        .and_then(|rest| rest.strip_prefix('/'))
    else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for part in rest.split('/') {
        let part = unescaped(part).filter(|part| !part.contains(char::is_control));
        let part = part.ok_or_else(|| Problem::invalid("a part of the path is no plain text"))?;
        if part.is_empty() || is_step(&part) {
            return Ok(None);
        }
        parts.push(part);
    }
    Ok(Some(parts))
}

/// For whom a request is, as its headers say.
pub(crate) fn addressee(headers: &HeaderMap) -> Result<Addressee, Problem> {
    let mut to = Addressee::default();
    let instance = text(headers, INSTANCE)?.map(|text| text.parse());
    to.instance = instance.transpose()?;
    to.correlation = text(headers, CORRELATION)?;
    Ok(to)
}

fn text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let text = headers.get(name).map(|value| value.to_str());
    let text = text.transpose();
    text.map(|text| text.map(str::to_owned))
        .map_err(|_| Problem::invalid(format!("`{name}` is made of visible ASCII")))
}

/// What follows the question mark. Of several with one name, the last counts.
pub(crate) fn query(uri: &Uri) -> Result<Value, Problem> {
    let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let Query(query) = query.map_err(|refused| Problem::invalid(refused.body_text()))?;
    let query = query.into_iter().map(|(name, value)| (name, value.into()));
    Ok(Value::Object(query.collect()))
}

/// What is delivered: the activity gives names to the parameters.
pub(crate) fn input<'h>(
    parameters: &[String],
    query: Value,
    headers: &HeaderMap,
    wanted: impl Iterator<Item = &'h String>,
    body: Option<Value>,
) -> Values {
    let wanted = wanted.filter_map(|name| {
        let value = headers.get(name)?.as_bytes();
        Some((name.clone(), String::from_utf8_lossy(value).into()))
    });
    let wanted: Values = wanted.collect();
    let fields = [
        ("parameters", json!(parameters)),
        ("query", query),
        ("headers", wanted.into()),
        ("body", body.unwrap_or_default()),
    ];
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        let read = |path: &str| parts("/workflows", path).unwrap();
        let some = |parts: &[&str]| Some(parts.iter().map(|&part| part.to_owned()).collect());
        assert_eq!(read("/workflows/a/b%20c"), some(&["a", "b c"]));
        assert_eq!(read("/workflows/a%2Fb"), some(&["a/b"]));
        for path in [
            "/workflows//a",
            "/workflows/a/",
            "/workflows/a//b",
            "/workflows/..",
            "/workflows/%2e%2E/a",
            "/workflows/./a",
            "/workflowsa",
            "/other/a",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        for path in ["%", "%4", "%zz", "%ff", "%00", "%0A"] {
            assert!(parts("/workflows", &format!("/workflows/{path}")).is_err());
        }
    }
}
