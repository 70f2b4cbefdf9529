//! Routes that workflows name themselves: which requests start or resume their instances.

mod route;

pub use route::{Route, is_step};

use crate::{
    activity::Wrong,
    definition::{Definition, Input, Node},
};
use lockwork_core::workflow::{Result, Stimulus, Value};
use serde_json::json;

/// The name of the stimulus for which an `HttpEndpoint` waits.
pub const HTTP: &str = "HttpEndpoint";

/// The output in which an instance leaves the answer to the request it was last reached by: `status`, `headers` and
/// `body`.
pub const RESPONSE: &str = "response";

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// A route that a workflow names, and what it says of requests there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// How it is asked.
    pub method: String,
    /// Where.
    pub route: Route,
    /// Whether a request starts an instance, unless it is for one that is there.
    pub starts: bool,
    /// Whether everybody may ask, without a key.
    pub public: bool,
    /// Whether whoever asks waits for what the instance answers.
    pub waits: bool,
    /// The headers that the workflow wants to see, in lower case.
    pub headers: Vec<String>,
    /// Which parameter of the path is the correlation of the instances it is for.
    pub correlation: Option<usize>,
}

impl Endpoint {
    /// Those of a definition. What cannot be read is none: it is never published.
    #[must_use]
    pub fn all(definition: &Definition) -> Vec<Self> {
        let mut found = Vec::new();
        find(&definition.root, &mut found);
        found
    }

    /// What `node` says, if that can be.
    pub(crate) fn of(node: &Node) -> Result<Self, Wrong> {
        let plain = |name: &str| match node.with.get(name) {
            Some(Input::Value(value)) => Some(value.clone()),
            _ => None,
        };
        let mut endpoint = Self::read(plain)?;
        endpoint.starts = node.starts;
        Ok(endpoint)
    }

    /// The same of one whose values somebody else knows.
    pub(crate) fn read(plain: impl Fn(&str) -> Option<Value>) -> Result<Self, Wrong> {
        let truth = |name: &str| match plain(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(yes)) => Ok(yes),
            Some(_) => Err(wrong(name, "this is `true` or `false`")),
        };
        let route = text(&plain, "path")?.parse::<Route>();
        let route = route.map_err(|error| wrong("path", &error.to_string()))?;
        Ok(Self {
            method: method(&text(&plain, "method")?)?,
            starts: false,
            public: truth("public")?,
            waits: truth("wait")?,
            headers: headers(plain("headers"))?,
            correlation: correlation(plain("correlation"), &route)?,
            route,
        })
    }

    /// By what a request finds those it is for: those it starts, or those who wait. Whoever must not ask for one finds no
    /// other by it, so whether everybody may is a part of it.
    #[must_use]
    pub fn payload(&self, starts: bool) -> Value {
        let yes = |yes: bool| yes.then_some(true);
        json!({
            "method": self.method,
            "path": self.route.shape(),
            "starts": yes(starts),
            "public": yes(self.public),
            "correlation": self.correlation,
        })
    }

    /// A request, for those it starts or for those who wait. If that is nobody, nobody gets it later.
    ///
    /// # Errors
    /// As [`Stimulus::new`].
    pub fn stimulus(&self, starts: bool) -> Result<Stimulus> {
        Ok(Stimulus::new(HTTP, &self.payload(starts))?.fleeting())
    }
}

fn find(node: &Node, found: &mut Vec<Endpoint>) {
    if node.kind == HTTP {
        found.extend(Endpoint::of(node).ok());
    }
    node.children().for_each(|(_, child)| find(child, found));
}

fn wrong(name: &str, message: &str) -> Wrong {
    Wrong::new(format!("with.{name}"), message)
}

fn text(plain: impl Fn(&str) -> Option<Value>, name: &str) -> Result<String, Wrong> {
    match plain(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(wrong(name, "this is a text")),
    }
}

fn method(text: &str) -> Result<String, Wrong> {
    let method = text.to_ascii_uppercase();
    match METHODS.contains(&method.as_str()) {
        true => Ok(method),
        false => Err(wrong("method", "this is GET, POST, PUT, PATCH or DELETE")),
    }
}

fn headers(value: Option<Value>) -> Result<Vec<String>, Wrong> {
    let message = "this is a list of the names of headers";
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong("headers", message)),
    };
    let names = items.iter().map(|item| match item.as_str() {
        Some(name) if name.eq_ignore_ascii_case("authorization") => {
            let message = "a key of the node may be in this header: it is not for workflows";
            Err(wrong("headers", message))
        }
        Some(name) if is_header(name) => Ok(name.to_ascii_lowercase()),
        _ => Err(wrong("headers", message)),
    });
    names.collect()
}

/// Whether this can be the name of a header: a token of RFC 9110.
pub(crate) fn is_header(name: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(sign);
    !name.is_empty() && name.len() <= 256 && name.chars().all(fits)
}

fn correlation(value: Option<Value>, route: &Route) -> Result<Option<usize>, Wrong> {
    let name = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(name)) => name,
        Some(_) => return Err(wrong("correlation", "this is a text")),
    };
    let found = route.parameters().position(|one| one == name);
    match found {
        Some(at) => Ok(Some(at)),
        None => Err(wrong(
            "correlation",
            "the path has no parameter of this name",
        )),
    }
}
