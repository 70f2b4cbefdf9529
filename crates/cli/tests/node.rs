//! A node of `lockwork dev`: what it says, and that nothing is lost when it ends, however it does.

#![cfg(unix)]

mod common;

use common::{
    becomes, code, done,
    node::{Node, bare},
    text,
};
use nix::sys::signal::Signal;
use std::{fs, path::Path, time::Duration};

/// A definition that says so at the beginning of each step of five seconds, and has as many as anybody waits for.
const LONG: &str = r#"{ "lockwork": 1, "id": "long", "options": { "commit": "step" }, "root":
    { "type": "While", "id": "on", "with": { "condition": true }, "do": { "body":
        { "type": "Sequence", "id": "one", "do": [
            { "type": "Log", "id": "say", "with": { "text": "begun" } },
            { "type": "Call", "id": "work", "with": { "name": "work", "args": { "ms": 5000 } } } ] } } } }"#;

/// So far that a countdown is still under way, however long it takes to look at it and to end its node: half a minute.
const FAR: u32 = 60;

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

/// Begins something, and waits until it has logged a text.
fn begin(node: &Node, words: &[&str]) -> String {
    let words = [&["start"], words].concat();
    let instance = text(&node.ask(&words).stdout).trim().to_owned();
    becomes("it logs", || !logged(node, &instance).is_empty());
    instance
}

fn begin_countdown(node: &Node) -> String {
    let input = format!("{{\"from\":{FAR}}}");
    begin(node, &["countdown", "--input", &input])
}

/// Waits until two numbers more have come, and each since the beginning once.
fn counts_on(node: &Node, instance: &str) {
    let before = logged(node, instance).len();
    becomes("it counts on", || {
        logged(node, instance).len() >= before + 2
    });
    let said = logged(node, instance);
    let numbers = (1..=FAR).rev().map(|number| number.to_string());
    let wanted: Vec<_> = numbers.take(said.len()).collect();
    assert_eq!(said, wanted);
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
    let soon = Duration::from_millis(300);
    assert!(quickest < soon, "not within {soon:?}: {quickest:?}");
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
    let instance = begin_countdown(&node);
    node.end(Signal::SIGKILL);
    let node = Node::dev(dir.path(), &[]);
    assert_eq!(node.lines[0], "resumed 1 interrupted instance");
    counts_on(&node, &instance);
    node.ask(&["instances", "cancel", &instance]);
    becomes("it is over", || status(&node, &instance) == "cancelled");
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
    let instance = begin_countdown(&one);
    let two = Node::dev(dir.path(), &[]);
    assert!(two.lines[0].starts_with("lockwork "), "{:?}", two.lines);
    counts_on(&two, &instance);
}

#[test]
fn a_node_that_is_told_to_end_hands_over_at_the_end_of_a_step() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let dir = tempfile::tempdir().unwrap();
        let node = Node::dev(dir.path(), &["--samples"]);
        let instance = begin_countdown(&node);
        let (output, _) = node.end(signal);
        assert_eq!(code(output.status), 0, "{signal}");
        let node = Node::dev(dir.path(), &[]);
        assert_eq!(node.lines[0], "resumed 1 interrupted instance", "{signal}");
        counts_on(&node, &instance);
    }
}

#[test]
fn a_second_signal_ends_a_node_at_once() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "long.json", LONG);
    let folder = dir.path().to_str().unwrap();
    let mut node = Node::dev(&dir.path().join("data"), &["--definitions", folder]);
    begin(&node, &["long"]);
    node.signal(Signal::SIGTERM);
    node.tells("once more ends it at once");
    node.signal(Signal::SIGTERM);
    let (output, _) = node.wait();
    assert_eq!(code(output.status), 143, "0 is the end of its step");
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
