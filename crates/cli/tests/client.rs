//! Asking a node: what is printed, and which exit code a script can rely on.

#![cfg(unix)]

mod common;

use common::{
    becomes, code, done,
    node::{Node, bare},
    text, wait,
};
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener},
};

fn samples() -> (tempfile::TempDir, Node) {
    let dir = tempfile::tempdir().expect("a directory");
    let node = Node::dev(dir.path(), &["--samples"]);
    (dir, node)
}

#[test]
fn the_greeting_prints_its_journal_and_its_output() {
    let (_dir, node) = samples();
    let output = node.ask(&["run", "greeting", "--input", r#"{"who":"Ada"}"#]);
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("s      hello: Hello Ada\n"), "{printed}");
    assert!(printed.contains("\nfinished after "), "{printed}");
    assert!(
        printed.ends_with("{\"greeting\":\"Hello Ada\"}\n"),
        "{printed}"
    );
}

#[test]
fn the_countdown_is_followed_through_its_delay() {
    let (_dir, node) = samples();
    let output = node.ask(&["run", "countdown", "--input", r#"{"from":1}"#]);
    let printed = text(&output.stdout);
    assert_eq!(code(output.status), 0, "{printed}");
    assert!(printed.contains("ignition resumed"), "{printed}");
    assert!(printed.ends_with("{\"said\":[1]}\n"), "{printed}");
}

#[test]
fn the_order_waits_until_it_is_approved() {
    let (_dir, node) = samples();
    let output = node.ask(&["run", "order-approval", "--input", r#"{"order":"B-1"}"#]);
    let printed = text(&output.stdout);
    assert_eq!(code(output.status), 0, "{printed}");
    assert!(
        printed.contains("waits for\n  the event approve"),
        "{printed}"
    );
    assert_eq!(
        node.json(&["timers"])["timers"].as_array().unwrap().len(),
        1
    );
    let words = [
        "signal",
        "approve",
        "--correlation",
        "B-1",
        "--payload",
        r#"{"by":"Ada"}"#,
    ];
    let told = text(&node.ask(&words).stdout);
    assert!(
        told.starts_with("resumed ") && told.ends_with(": finished\n"),
        "{told}"
    );
    let found = node.json(&["instances", "ls", "--status", "finished"]);
    assert_eq!(found["instances"][0]["correlation"], "B-1");
}

#[test]
fn a_file_is_published_and_run_whatever_its_id_is() {
    let (dir, node) = samples();
    let file = dir.path().join("odd.json");
    let odd = r#"{ "lockwork": 1, "id": "a/b c?%", "root": { "type": "Fault", "id": "no", "with": { "code": "x" } } }"#;
    fs::write(&file, odd).unwrap();
    let output = node.ask(&["run", file.to_str().unwrap()]);
    let printed = text(&output.stdout);
    assert_eq!(code(output.status), 1, "{printed}{}", text(&output.stderr));
    assert!(printed.contains("\nfaulted after "), "{printed}");
    let shown = node.json(&["definitions", "show", "a/b c?%"]);
    assert_eq!(shown["published"], true);
    let put = node.json(&["definitions", "put", "--draft", file.to_str().unwrap()]);
    assert_eq!(put["number"], 1, "the same is no new version");
    assert_eq!(
        node.json(&["definitions", "publish", "a/b c?%"])["number"],
        1
    );
}

#[test]
fn everything_that_lists_or_shows_can_be_read_by_programs() {
    let (_dir, node) = samples();
    let instance = node.json(&["start", "order-approval", "--key", "k"])["instance"].clone();
    let instance = instance.as_str().unwrap();
    let again = node.json(&["start", "order-approval", "--key", "k"]);
    assert_eq!(
        again["instance"], instance,
        "of two with one key, one is created"
    );
    assert_eq!(node.json(&["signal", "nobody-waits"])["queued"], true);
    let lists: &[(&[&str], &str, usize)] = &[
        (&["definitions", "ls"], "definitions", 3),
        (&["instances", "ls"], "instances", 1),
        (&["nodes"], "nodes", 1),
        (&["queue"], "waiting", 1),
        (&["queue", "dead"], "deadLetters", 0),
    ];
    for (words, name, count) in lists {
        let found = node.json(words);
        assert_eq!(found[name].as_array().unwrap().len(), *count, "{words:?}");
        let output = node.ask(words);
        assert_eq!(code(output.status), 0, "{words:?}");
        assert!(!output.stdout.is_empty(), "{words:?}");
    }
    let found = node.json(&["instances", "show", instance]);
    assert_eq!(found["state"]["instance"], instance);
    let shown = text(&node.ask(&["instances", "show", instance]).stdout);
    assert!(shown.contains("main started"), "{shown}");
}

#[test]
fn lists_are_followed_from_page_to_page() {
    let (_dir, node) = samples();
    for _ in 0..3 {
        node.json(&["start", "greeting"]);
    }
    let count = |words: &[&str]| {
        let found = node.json(words);
        found["instances"].as_array().unwrap().len()
    };
    assert_eq!(count(&["instances", "ls", "--limit", "2"]), 2);
    assert_eq!(count(&["instances", "ls", "--all"]), 3);
    assert_eq!(count(&["instances", "ls", "--definition", "countdown"]), 0);
    let told = node.ask(&["instances", "ls", "--limit", "2"]);
    assert!(text(&told.stderr).contains("--all"));
}

#[test]
fn instances_are_ended_and_removed_one_by_one() {
    let (_dir, node) = samples();
    let start = || {
        let started = node.ask(&["start", "order-approval"]);
        let instance = text(&started.stdout).trim().to_owned();
        becomes("it waits", || {
            node.json(&["instances", "show", &instance])["state"]["subStatus"] == "suspended"
        });
        instance
    };
    let (one, two) = (start(), start());
    let output = node.ask(&["instances", "cancel", &one, "no-such", &two]);
    assert_eq!(code(output.status), 66);
    assert_eq!(
        text(&output.stdout),
        format!("{one}: cancelled\n{two}: cancelled\n")
    );
    assert!(text(&output.stderr).starts_with("lockwork: no-such: "));
    assert_eq!(
        code(node.ask(&["instances", "retry", &one]).status),
        75,
        "nothing failed in it"
    );
    assert_eq!(code(node.ask(&["instances", "rm", &one, &two]).status), 0);
    assert_eq!(code(node.ask(&["instances", "show", &one]).status), 66);
}

#[test]
fn nothing_of_that_name_ends_with_66_and_wrong_words_with_2() {
    let (_dir, node) = samples();
    let cases: &[(&[&str], i32)] = &[
        (&["instances", "show", "no-such"], 66),
        (&["instances", "rm", "no-such"], 66),
        (&["instances", "show", ".."], 66),
        (&["definitions", "show", "no-such"], 66),
        (&["definitions", "publish", "no-such"], 66),
        (&["definitions", "put", "/no/such/file.json"], 66),
        (&["run", "no-such"], 66),
        (&["start", "no-such"], 66),
        (&["start", "greeting", "--input", "[]"], 2),
        (&["definitions", "show", "greeting", "--version", "x"], 2),
        (&["instances", "ls", "--status", "sleeping"], 2),
        (&["nodes", "--node", "127.0.0.1:1"], 2),
    ];
    for (words, expected) in cases {
        let output = node.ask(words);
        assert_eq!(code(output.status), *expected, "{words:?}");
        assert!(text(&output.stderr).starts_with("lockwork: "), "{words:?}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
}

#[test]
fn whoever_follows_an_instance_is_told_when_its_node_ends() {
    let (_dir, node) = samples();
    let run = node.asking(&["run", "countdown"]).spawn().unwrap();
    becomes("it counts", || {
        let found = node.json(&["instances", "ls", "--status", "executing"]);
        found["instances"][0]["definition"] == "countdown"
    });
    let (ended, _) = node.end(Signal::SIGTERM);
    assert_eq!(code(ended.status), 0);
    let output = wait(run);
    assert_eq!(code(output.status), 69);
    let told = text(&output.stderr);
    assert!(told.contains("lockwork instances show"), "{told}");
}

#[test]
fn where_no_node_is_one_is_told_to_start_it() {
    // Nobody listens on a port that was given back.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let output = done(&mut bare(&["nodes", "--node", &url]));
    assert_eq!(code(output.status), 69);
    let told = text(&output.stderr);
    assert!(
        told.contains(&url) && told.contains("`lockwork dev`"),
        "{told}"
    );
}

/// A web server that answers one request so.
fn other_server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(answer.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
        // Whoever closes with something unread takes back what was answered.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    format!("http://{address}")
}

/// A list of three on two pages, at a stand-in that says what it was asked.
#[test]
fn a_list_is_shown_to_its_end() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let pages = [
        r#"{"waiting":[{"id":"a"},{"id":"b"}],"next":"b"}"#,
        r#"{"waiting":[{"id":"c"}]}"#,
    ];
    let asked = std::thread::spawn(move || pages.map(|page| one_answer(&listener, page)));
    let output = done(&mut bare(&["queue", "--json", "--node", &url]));
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let wanted = serde_json::json!({ "waiting": [{ "id": "a" }, { "id": "b" }, { "id": "c" }] });
    assert_eq!(shown, wanted);
    let [first, second] = asked.join().expect("both were asked for");
    assert!(first.contains("/v1/queue?limit=1000 "), "{first}");
    assert!(second.contains("after=b"), "{second}");
}

/// Answers one request with this JSON, and gives the first line of it.
fn one_answer(listener: &TcpListener, json: &str) -> String {
    use std::io::{BufRead, BufReader, Write};
    let (mut stream, _) = listener.accept().expect("somebody asks");
    let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    let first = lines.next().expect("a line").expect("of text");
    lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
    let length = json.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{json}"
    )
    .expect("it listens");
    first
}

#[test]
fn another_web_server_is_not_taken_for_a_node() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<hi>",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<no>",
    ] {
        let url = other_server(answer);
        let output = done(&mut bare(&["start", "greeting", "--node", &url]));
        let told = text(&output.stderr);
        assert_eq!(code(output.status), 69, "{answer}: {told}");
        assert_eq!(text(&output.stdout), "", "{answer}");
        assert!(told.contains(&url), "{answer}: {told}");
        assert!(told.contains("is no node of lockwork"), "{answer}: {told}");
        assert!(told.contains("--node URL"), "{answer}: {told}");
    }
}

#[test]
fn an_instance_is_shown_with_the_node_that_runs_it() {
    let (_dir, node) = samples();
    let name = node.json(&["nodes"])["nodes"][0]["name"].clone();
    let started = node.ask(&["start", "countdown", "--input", r#"{"from":60}"#]);
    let instance = text(&started.stdout).trim().to_owned();
    becomes("somebody runs it", || {
        node.json(&["instances", "show", &instance])["runs"]["node"] == name
    });
    let shown = text(&node.ask(&["instances", "show", &instance]).stdout);
    let line = shown.lines().find(|line| line.starts_with("Runs on"));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains(name.as_str().unwrap()), "{line}");
    assert!(line.contains("process "), "{line}");
}

#[test]
fn of_an_instance_that_nobody_runs_this_is_shown() {
    let (_dir, node) = samples();
    let started = node.ask(&["start", "order-approval"]);
    let instance = text(&started.stdout).trim().to_owned();
    becomes("it waits, and nobody runs it", || {
        let found = node.json(&["instances", "show", &instance]);
        found["state"]["subStatus"] == "suspended" && found["runs"].is_null()
    });
    let shown = text(&node.ask(&["instances", "show", &instance]).stdout);
    assert!(shown.contains("Runs on      no node"), "{shown}");
    node.ask(&["instances", "cancel", &instance]);
    let shown = text(&node.ask(&["instances", "show", &instance]).stdout);
    assert!(!shown.contains("Runs on"), "it is over: {shown}");
}
