//! Spans reach the collector that the environment names, and no collector is needed for anything else.

#![cfg(unix)]
// A test says what it expects by unwrapping it, in its helpers too.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    LIMIT, code,
    node::{Node, bare},
    text,
};
use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value,
    trace::v1::{ResourceSpans, Span},
};
use prost::Message;
use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

/// Sent to the node by somebody who has begun a trace.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Takes spans as a collector does, and hands them on.
struct Collector {
    url: String,
    told: Receiver<ResourceSpans>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let tell = tell.clone();
                thread::spawn(move || take(&stream, &tell));
            }
        });
        Self { url, told }
    }

    /// The service, and its span of this name, once it comes.
    fn span(&self, name: &str, all: &mut Vec<(String, Span)>) -> (String, Span) {
        let began = Instant::now();
        loop {
            if let Some(found) = all.iter().find(|(_, span)| span.name == name) {
                return found.clone();
            }
            let left = LIMIT.saturating_sub(began.elapsed());
            let names: Vec<_> = all.iter().map(|(_, span)| &span.name).collect();
            let Ok(told) = self.told.recv_timeout(left) else {
                panic!("not within {LIMIT:?}: a span called {name:?}; there are {names:?}");
            };
            all.extend(spans(told));
        }
    }
}

/// One request after another, each with its answer.
fn take(stream: &TcpStream, tell: &Sender<ResourceSpans>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut length, mut first) = (0, String::new());
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        assert_eq!(first.trim_end(), "POST /v1/traces HTTP/1.1");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let request = ExportTraceServiceRequest::decode(&*body).unwrap();
        (&*stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
        for spans in request.resource_spans {
            // Nobody asks any more.
            let _ = tell.send(spans);
        }
    }
}

fn spans(told: ResourceSpans) -> Vec<(String, Span)> {
    let resource = told.resource.unwrap_or_default();
    let service = resource
        .attributes
        .iter()
        .find(|one| one.key == "service.name");
    let service = match service.and_then(|one| one.value.clone()?.value) {
        Some(Value::StringValue(name)) => name,
        other => panic!("a service without a name: {other:?}"),
    };
    let spans = told.scope_spans.into_iter().flat_map(|scope| scope.spans);
    spans.map(|span| (service.clone(), span)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn says(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|one| one.key == key)?;
    match found.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{key}: {other:?}"),
    }
}

/// A node that sends spans as soon as there are some, or not before its end.
fn node(dir: &Path, collector: &str, delay: &str) -> Command {
    let dir = dir.to_str().unwrap();
    let mut command = bare(&["dev", "--listen", "127.0.0.1:0", "--dir", dir]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        .env("OTEL_BSP_SCHEDULE_DELAY", delay);
    command
}

/// Has the node run a workflow that says one thing, as part of a trace.
fn run(node: &Node, dir: &Path) {
    let file = dir.join("greet.json");
    let definition = r#"{ "lockwork": 1, "id": "greet", "root": { "type": "Log", "id": "hello", "with": { "text": "hello" } } }"#;
    fs::write(&file, definition).unwrap();
    node.json(&["definitions", "put", file.to_str().unwrap()]);
    let mut stream = TcpStream::connect(node.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!(
        "POST /v1/definitions/greet/start HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ntraceparent: 00-{TRACE}-{PARENT}-01\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_collector_can_follow_a_request_to_what_each_activity_did() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let node = Node::start(&mut node(dir.path(), &collector.url, "20"));
    run(&node, dir.path());
    let mut all = Vec::new();
    let (service, request) = collector.span("POST /v1/definitions/{id}/start", &mut all);
    assert_eq!(service, "lockwork");
    assert_eq!(hex(&request.trace_id), TRACE);
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(
        says(&request, "http.response.status_code").as_deref(),
        Some("200")
    );
    let (_, burst) = collector.span("burst", &mut all);
    assert_eq!(hex(&burst.trace_id), TRACE);
    assert_eq!(burst.parent_span_id, request.span_id);
    assert!(says(&burst, "instance").is_some(), "{burst:?}");
    let (_, activity) = collector.span("Log", &mut all);
    assert_eq!(hex(&activity.trace_id), TRACE);
    assert_eq!(activity.parent_span_id, burst.span_id);
    assert_eq!(says(&activity, "node").as_deref(), Some("hello"));
}

#[test]
fn what_was_not_sent_yet_is_sent_when_a_node_ends() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let mut command = node(dir.path(), &collector.url, "600000");
    let node = Node::start(command.env("OTEL_SERVICE_NAME", "shop"));
    run(&node, dir.path());
    let (output, _) = node.end(Signal::SIGTERM);
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let (service, _) = collector.span("burst", &mut Vec::new());
    assert_eq!(service, "shop");
}

#[test]
fn a_node_works_and_ends_without_the_collector_that_it_was_told_of() {
    let dir = tempfile::tempdir().unwrap();
    // Nobody listens on port 1.
    let mut command = node(dir.path(), "http://127.0.0.1:1", "20");
    let node = Node::start(command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hunter2"));
    run(&node, dir.path());
    let began = Instant::now();
    let (output, _) = node.end(Signal::SIGTERM);
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let limit = Duration::from_secs(15);
    assert!(began.elapsed() < limit, "too late: {:?}", began.elapsed());
    assert!(!text(&output.stderr).contains("hunter2"));
}

#[test]
fn an_address_that_is_none_is_said_and_the_node_works() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::start(&mut node(dir.path(), "not an address", "20"));
    run(&node, dir.path());
    let (output, _) = node.end(Signal::SIGTERM);
    let told = text(&output.stderr);
    assert_eq!(code(output.status), 0, "{told}");
    assert!(told.contains("no spans are sent"), "{told}");
    assert!(told.contains("OTEL_EXPORTER_OTLP"), "{told}");
}
