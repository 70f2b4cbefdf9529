//! What a node says of itself against what it does: each answer that a test is given has a status that is described.

use serde_json::Value;
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::OnceCell,
};

/// What is described: the same on each node.
static OPERATIONS: OnceCell<Vec<Operation>> = OnceCell::const_new();

/// Which node answered what with which status.
static ANSWERED: Mutex<BTreeSet<(SocketAddr, String, u16)>> = Mutex::new(BTreeSet::new());

/// An operation, as it is described.
pub(crate) struct Operation {
    pub(crate) name: String,
    method: String,
    path: Vec<String>,
    statuses: Vec<String>,
}

impl Operation {
    /// How much of a path it says, if it means it.
    fn means(&self, method: &str, path: &[&str]) -> Option<usize> {
        let rest = self.path.last().is_some_and(|part| part == "{path}");
        let long_enough = match rest {
            true => path.len() >= self.path.len(),
            false => path.len() == self.path.len(),
        };
        let fits = long_enough && self.method == method;
        let parts = || self.path.iter().zip(path);
        let same = |(part, found): (&String, &&str)| match part.starts_with('{') {
            true => !found.is_empty(),
            false => part == found,
        };
        let said = parts().filter(|(part, _)| !part.starts_with('{')).count();
        (fits && parts().all(same)).then_some(said)
    }
}

/// Each operation that is described.
pub(crate) async fn operations(node: SocketAddr) -> &'static [Operation] {
    OPERATIONS.get_or_init(|| read(node)).await
}

async fn read(node: SocketAddr) -> Vec<Operation> {
    let mut stream = TcpStream::connect(node).await.unwrap();
    let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let document: Value = serde_json::from_str(body).unwrap();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap();
            all.push(Operation {
                name: operation["operationId"].as_str().unwrap().to_owned(),
                method: method.to_uppercase(),
                path: path.split('/').map(str::to_owned).collect(),
                statuses: responses.keys().cloned().collect(),
            });
        }
    }
    all
}

/// Notes what was answered. It must be described.
pub(crate) async fn note(node: SocketAddr, request: &str, status: u16) {
    let mut words = request.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return;
    };
    let path = path.split('?').next().unwrap_or_default();
    let path: Vec<_> = path.split('/').collect();
    // A node that has ended describes nothing any more; another one has by then.
    if OPERATIONS.get().is_none() && TcpStream::connect(node).await.is_err() {
        return;
    }
    let all = operations(node).await.iter();
    let meant = all.filter_map(|one| Some((one.means(method, &path)?, one)));
    let Some((_, operation)) = meant.max_by_key(|(said, _)| *said) else {
        return;
    };
    let described = |known: &String| *known == status.to_string() || known == "default";
    assert!(
        operation.statuses.iter().any(described),
        "`{}` answers {status}, and that is not described",
        operation.name
    );
    let mut answered = ANSWERED.lock().unwrap_or_else(PoisonError::into_inner);
    answered.insert((node, operation.name.clone(), status));
}

/// What this node has answered with all being well.
pub(crate) fn well(node: SocketAddr) -> BTreeSet<String> {
    let answered = ANSWERED.lock().unwrap_or_else(PoisonError::into_inner);
    let of = answered.iter().filter(|(of, ..)| *of == node);
    let well = of.filter(|(_, _, status)| (200..300).contains(status));
    well.map(|(_, name, _)| name.clone()).collect()
}
