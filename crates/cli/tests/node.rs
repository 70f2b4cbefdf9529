//! A node of `lockwork dev`: what it says, and that nothing is lost when it ends, however it does.

#![cfg(unix)]

mod common;

use common::{
    becomes, code, done,
    node::{Node, bare},
    text,
};
use nix::sys::signal::Signal;
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// A definition whose one step takes five seconds.
const LONG: &str = r#"{ "lockwork": 1, "id": "long", "root":
    { "type": "Call", "id": "work", "with": { "name": "work", "args": { "ms": 5000 } } } }"#;

/// How far an instance is.
fn status(node: &Node, instance: &str) -> String {
    let found = node.json(&["instances", "show", instance]);
    found["state"]["subStatus"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The texts that an instance has logged.
fn logged(node: &Node, instance: &str) -> Vec<String> {
    let found = node.json(&["instances", "show", instance]);
    let journal = found["journal"].as_array().cloned().unwrap_or_default();
    let texts = journal.iter().filter(|entry| entry["happened"] == "logged");
    texts
        .map(|entry| entry["note"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Begins a countdown, and waits until it has said a number.
fn begin_countdown(node: &Node, from: u32) -> String {
    let input = format!("{{\"from\":{from}}}");
    let started = node.ask(&["start", "countdown", "--input", &input]);
    let instance = text(&started.stdout).trim().to_owned();
    becomes("it counts", || !logged(node, &instance).is_empty());
    instance
}

fn finishes(node: &Node, instance: &str) {
    becomes("it finishes", || status(node, instance) == "finished");
}

#[test]
fn a_node_is_ready_soon_and_says_what_there_is_in_eight_lines_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let mut quickest = Duration::MAX;
    // This machine may be busy with something else.
    for _ in 0..5 {
        let node = Node::dev(dir.path(), &["--samples"]);
        quickest = quickest.min(node.took);
        let (mut lines, (output, rest)) = (node.lines.clone(), node.end(Signal::SIGTERM));
        assert_eq!(code(output.status), 0);
        lines.extend(rest);
        assert!(lines.len() <= 8, "{lines:#?}");
        assert!(lines[0].starts_with("lockwork "), "{lines:#?}");
        assert!(lines[4].contains("countdown, greeting, order-approval"));
        assert!(!lines.concat().contains('\x1b'), "no terminal is there");
    }
    assert!(quickest < Duration::from_millis(300), "{quickest:?}");
}

#[test]
fn what_a_node_tells_to_try_works() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::dev(dir.path(), &["--samples"]);
    let tried = node.lines.last().unwrap().trim_start_matches("Try").trim();
    let script = tried.replacen("lockwork", "\"$0\"", 1);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_lockwork")]);
    shell.stdout(std::process::Stdio::piped());
    let output = done(&mut shell);
    assert_eq!(code(output.status), 0, "{tried}");
    assert!(text(&output.stdout).contains("Hello Ada"), "{tried}");
}

#[test]
fn a_killed_node_resumes_what_was_under_way_and_does_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::dev(dir.path(), &["--samples"]);
    let instance = begin_countdown(&node, 3);
    node.end(Signal::SIGKILL);
    let node = Node::dev(dir.path(), &[]);
    assert_eq!(node.lines[0], "resumed 1 interrupted instance");
    finishes(&node, &instance);
    assert_eq!(logged(&node, &instance), ["3", "2", "1"]);
    let found = node.json(&["instances", "show", &instance]);
    assert_eq!(
        found["state"]["output"]["said"],
        serde_json::json!([3, 2, 1])
    );
    let (_, again) = (node.end(Signal::SIGTERM), Node::dev(dir.path(), &[]));
    assert!(
        again.lines[0].starts_with("lockwork "),
        "nothing is left to resume"
    );
}

#[test]
fn what_another_node_is_at_is_not_taken_for_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let one = Node::dev(dir.path(), &["--samples"]);
    let instance = begin_countdown(&one, 3);
    let two = Node::dev(dir.path(), &[]);
    assert!(two.lines[0].starts_with("lockwork "), "{:?}", two.lines);
    finishes(&two, &instance);
    assert_eq!(logged(&two, &instance), ["3", "2", "1"]);
}

#[test]
fn a_node_that_is_told_to_end_hands_over_at_the_end_of_a_step() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let node = Node::dev(dir.path(), &["--samples"]);
        let instance = begin_countdown(&node, 3);
        let (output, _) = node.end(signal);
        assert_eq!(code(output.status), 0, "{signal}");
        let node = Node::dev(dir.path(), &[]);
        assert_eq!(node.lines[0], "resumed 1 interrupted instance", "{signal}");
        finishes(&node, &instance);
        assert_eq!(logged(&node, &instance), ["3", "2", "1"], "{signal}");
    }
}

#[test]
fn a_second_signal_ends_a_node_at_once() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "long.json", LONG);
    let folder = dir.path().to_str().unwrap();
    let mut node = Node::dev(&dir.path().join("data"), &["--definitions", folder]);
    node.json(&["start", "long"]);
    becomes("it works", || {
        node.json(&["nodes"])["nodes"][0]["bursts"] == 1
    });
    let began = Instant::now();
    node.signal(Signal::SIGTERM);
    becomes("it drains", || {
        !node.ask(&["start", "long"]).status.success()
    });
    node.signal(Signal::SIGTERM);
    let (output, _) = node.wait();
    assert_eq!(code(output.status), 143);
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "too late: {:?}",
        began.elapsed()
    );
}

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("a file");
}

#[test]
fn a_second_node_on_the_same_port_is_told_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::dev(&dir.path().join("one"), &[]);
    let at = node.url.trim_start_matches("http://");
    let other = dir.path().join("two");
    let output = done(&mut bare(&[
        "dev",
        "--listen",
        at,
        "--dir",
        other.to_str().unwrap(),
    ]));
    assert_eq!(code(output.status), 69);
    assert!(text(&output.stderr).contains("--listen 127.0.0.1:0"));
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn every_definition_of_a_folder_is_published() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "long.json", LONG);
    write(dir.path(), "notes.txt", "no definition");
    let folder = dir.path().to_str().unwrap();
    let node = Node::dev(&dir.path().join("data"), &["--definitions", folder]);
    let found = node.json(&["definitions", "ls"]);
    assert_eq!(found["definitions"].as_array().unwrap().len(), 1);
    assert_eq!(found["definitions"][0]["id"], "long");
    write(dir.path(), "broken.json", "{");
    let data = dir.path().join("other");
    let words = [
        "dev",
        "--listen",
        "127.0.0.1:0",
        "--definitions",
        folder,
        "--dir",
        data.to_str().unwrap(),
    ];
    let output = done(&mut bare(&words));
    assert_eq!(code(output.status), 2);
    assert!(text(&output.stderr).contains("broken.json"));
}
