//! Asking by hand, so that what is wrong can be asked too.

use crate::described;
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Longer than anything here takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// What `work` gives, if it does so in time.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(LIMIT, work).await;
    done.unwrap_or_else(|_| panic!("not within {LIMIT:?}"))
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer, if it has this status.
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Somebody who asks.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) key: Option<String>,
}

impl Client {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, Some(body)).await
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        self.send(&self.request(method, path, "", &body)).await
    }

    /// The text of a request.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let key = self.key.as_ref();
        let key = key.map(|key| format!("Authorization: Bearer {key}\r\n"));
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}{headers}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            key.unwrap_or_default(),
            body.len(),
        )
    }

    /// Sends what may be no request, and reads what comes back until the end.
    pub(crate) async fn send(&self, request: &str) -> Answer {
        let answer = async {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            // Whoever is refused early may not be listened to until the end.
            let _ = stream.write_all(request.as_bytes()).await;
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes).await;
            read(&bytes)
        };
        let answer = soon(answer).await;
        described::note(self.address, request, answer.status).await;
        answer
    }
}

fn read(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, text) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer {
        status,
        head: head.to_owned(),
        text: text.to_owned(),
    }
}
