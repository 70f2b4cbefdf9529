//! One question to a node, and what its answer means for the exit code.

use crate::{
    args::{ADDRESS, At},
    exit::{self, End, Ended},
    reach::{is_here, tls},
    show,
};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::Value;
use std::{error::Error, time::Duration};

/// Longer than a node takes for any answer.
const PATIENCE: Duration = Duration::from_secs(75);

/// Longer than a node takes that is there.
const CONNECT: Duration = Duration::from_secs(10);

/// The longest page a node gives.
const PAGE: &str = "1000";

/// A node that can be asked.
pub(crate) struct Node {
    url: Url,
    client: Client,
    key: Option<String>,
}

impl Node {
    /// The one that was named. Asks nobody.
    pub(crate) fn of(at: &At) -> Ended<Self> {
        let named = at.node.clone();
        let named = named.or_else(|| std::env::var("LOCKWORK_NODE_URL").ok());
        let named = named.filter(|url| !url.is_empty());
        let mut node = Self::at(&named.unwrap_or_else(|| format!("http://{ADDRESS}")))?;
        let key = std::env::var("LOCKWORK_KEY").ok();
        node.key = key.filter(|key| !key.is_empty());
        Ok(node)
    }

    /// The one at this address, which asks for no key. Asks nobody.
    pub(crate) fn at(url: &str) -> Ended<Self> {
        let url = address(url)?;
        let client = client(&url).map_err(|error| {
            let sentence = format!("nobody can be asked from here: {error}");
            End::new(exit::SYSTEM, sentence)
        })?;
        let key = None;
        Ok(Self { url, client, key })
    }

    pub(crate) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Ended<Value> {
        self.ask(Method::GET, path, query, None).await
    }

    /// Asks page by page, and gives what comes back under `field` as if it were one page. The next one is asked for by
    /// what a page says comes `next`, as `by`.
    pub(crate) async fn pages(&self, path: &[&str], field: &str, by: &str) -> Ended<Value> {
        let mut all = self.get(path, &[("limit", PAGE)]).await?;
        while let Some(next) = next(&all) {
            let mut page = self.get(path, &[("limit", PAGE), (by, &next)]).await?;
            if let (Some(all), Some(more)) = (all[field].as_array_mut(), page[field].as_array_mut())
            {
                all.append(more);
            }
            all["next"] = page["next"].take();
        }
        if let Some(all) = all.as_object_mut() {
            all.remove("next");
        }
        Ok(all)
    }

    pub(crate) async fn post(&self, path: &[&str], body: Value) -> Ended<Value> {
        self.ask(Method::POST, path, &[], Some(body)).await
    }

    /// What happens on it from now on, for as long as it lives or `limit` allows.
    pub(crate) async fn live(&self, limit: Duration) -> Ended<Response> {
        let request = self.client.get(self.path(&["live"], &[])?);
        let response = request.timeout(limit).send().await;
        response.map_err(|error| self.unanswered(&error))
    }

    /// Asks for what `path` names, each part of it as it is.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<Value>,
    ) -> Ended<Value> {
        let mut request = self.client.request(method, self.path(path, query)?);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            let json = request.header("content-type", "application/json");
            request = json.body(body.to_string());
        }
        let response = request.send().await;
        let response = response.map_err(|error| self.unanswered(&error))?;
        let status = response.status();
        let body = response.bytes().await;
        let body = body.map_err(|error| self.unanswered(&error))?;
        let body = serde_json::from_slice(&body).ok();
        match (status, body.filter(Value::is_object)) {
            (StatusCode::NO_CONTENT, _) => Ok(Value::Null),
            (status, Some(body)) if status.is_success() => Ok(body),
            // A node answers by an object, also where there is nothing. What stands in front of it may refuse otherwise.
            (status, None) if status.is_success() || status == StatusCode::NOT_FOUND => {
                Err(self.no_node())
            }
            (status, body) => Err(refused(status, &body.unwrap_or_default())),
        }
    }

    fn path(&self, path: &[&str], query: &[(&str, &str)]) -> Ended<Url> {
        let mut url = self.url.clone();
        if path.iter().any(|part| [".", "..", ""].contains(part)) {
            let sentence = "nothing is called so: an id is a text other than `.` and `..`";
            return Err(End::new(exit::NOTHING, sentence));
        }
        let parts = url.path_segments_mut();
        let mut parts = parts.map_err(|()| not_so(self.url.as_str()))?;
        parts.pop_if_empty().push("v1").extend(path);
        drop(parts);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// Somebody else's web server would otherwise be taken for a node that has done what it was asked.
    fn no_node(&self) -> End {
        let at = self.url.as_str().trim_end_matches('/');
        let sentence = format!(
            "what answers at {at} is no node of lockwork: say where one is, with --node URL or LOCKWORK_NODE_URL, or start one \
             with `lockwork dev`"
        );
        End::new(exit::UNAVAILABLE, sentence)
    }

    fn unanswered(&self, error: &reqwest::Error) -> End {
        let at = self.url.as_str().trim_end_matches('/');
        let sentence = if error.is_connect() {
            format!("no node answers at {at}: start one with `lockwork dev`")
        } else if error.is_timeout() {
            format!("the node at {at} did not answer in time")
        } else {
            format!("the answer of the node at {at} broke off, or was none")
        };
        End::new(exit::UNAVAILABLE, sentence)
    }
}

/// What a page says comes after it: a name, or a number.
fn next(page: &Value) -> Option<String> {
    match &page["next"] {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn address(text: &str) -> Ended<Url> {
    let url = Url::parse(text).map_err(|_| not_so(text))?;
    let is_http = ["http", "https"].contains(&url.scheme()) && url.host().is_some();
    match is_http && url.password().is_none() {
        true => Ok(url),
        false => Err(not_so(text)),
    }
}

/// Without the text if it may have a password in it.
fn not_so(text: &str) -> End {
    let text = if text.contains('@') { "this" } else { text };
    let sentence = format!("{text} is no address of a node: write http://127.0.0.1:8600, say");
    End::new(exit::USAGE, sentence)
}

fn client(url: &Url) -> Result<Client, Box<dyn Error>> {
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls(url)?)
        .connect_timeout(CONNECT)
        .timeout(PATIENCE);
    if is_here(url) {
        client = client.no_proxy();
    }
    Ok(client.build()?)
}

/// From a problem document to how this command ends.
fn refused(status: StatusCode, problem: &Value) -> End {
    let is_transient = problem["transient"].as_bool().unwrap_or(false);
    let code = match status.as_u16() {
        400 | 405 | 413 | 415 | 422 => exit::USAGE,
        404 => exit::NOTHING,
        409 => exit::BUSY,
        503 if is_transient => exit::BUSY,
        _ => exit::UNAVAILABLE,
    };
    let detail = problem["detail"].as_str().map(show::harmless);
    let mut sentence = detail.unwrap_or_else(|| format!("the node answered {status}"));
    if status == StatusCode::UNAUTHORIZED {
        sentence.push_str(". This command takes it from LOCKWORK_KEY");
    }
    End::new(code, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(url: &str) -> Node {
        let node = Some(url.to_owned());
        Node::of(&At { node }).unwrap()
    }

    #[test]
    fn an_id_is_one_part_of_a_path_whatever_is_in_it() {
        let node = node("http://h:1/under/");
        let url = node.path(&["instances", "a/b?c#d %", "journal"], &[("from", "0")]);
        assert_eq!(
            url.unwrap().as_str(),
            "http://h:1/under/v1/instances/a%2Fb%3Fc%23d%20%25/journal?from=0"
        );
        assert_eq!(node.path(&["instances", ".."], &[]).unwrap_err().code, 66);
    }

    #[test]
    fn the_exit_code_says_what_to_do() {
        let code = |status: u16, transient: bool| {
            let status = StatusCode::from_u16(status).unwrap();
            let problem = json!({ "detail": "why", "transient": transient });
            let end = refused(status, &problem);
            assert!(end.sentence.starts_with("why"));
            end.code
        };
        assert_eq!(code(400, false), 2);
        assert_eq!(code(422, false), 2);
        assert_eq!(code(404, false), 66);
        assert_eq!(code(409, false), 75);
        assert_eq!(code(503, true), 75);
        assert_eq!(code(503, false), 69);
        assert_eq!(code(401, false), 69);
        assert_eq!(code(403, false), 69);
        assert_eq!(code(500, false), 69);
    }

    #[test]
    fn an_address_is_one_of_http_without_a_password() {
        for text in [
            "",
            "127.0.0.1:8600",
            "ftp://h",
            "http://",
            "http://a:hunter2@h",
        ] {
            let told = address(text).unwrap_err();
            assert_eq!(told.code, 2, "{text}");
            assert!(!told.sentence.contains("hunter2"));
        }
        assert!(is_here(&address("http://[::1]:8600").unwrap()));
        assert!(!is_here(&address("https://node.example").unwrap()));
    }
}
