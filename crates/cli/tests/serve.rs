//! `lockwork serve`: what it refuses, where its settings come from, and who may ask it.

#![cfg(unix)]

mod common;

use common::{
    code, done,
    node::{Node, bare},
    text,
};
use nix::sys::signal::Signal;
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

fn store(dir: &Path) -> String {
    format!("sqlite:{}", dir.join("shared.db").display())
}

fn serve(dir: &Path, words: &[&str]) -> Node {
    let store = store(dir);
    let all = ["serve", "--store", &store, "--listen", "127.0.0.1:0"];
    let all: Vec<_> = all.iter().chain(words).copied().collect();
    Node::start(&mut bare(&all))
}

#[test]
fn pairs_that_are_unsafe_are_refused_before_anybody_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let locks = format!("file:{}", dir.path().join("locks").display());
    // Nobody listens on port 1.
    let words = [
        "serve",
        "--store",
        "postgres://app:hunter2@127.0.0.1:1/x",
        "--locks",
        &locks,
    ];
    let output = done(&mut bare(&words));
    let told = text(&output.stderr);
    assert_eq!(code(output.status), 2, "{told}");
    assert!(told.contains("keep no other machine out"), "{told}");
    assert!(told.contains("--allow-local-locks"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn without_keys_a_node_is_for_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let words = [
        "serve",
        "--store",
        &store(dir.path()),
        "--listen",
        "0.0.0.0:0",
    ];
    let output = done(&mut bare(&words));
    assert_eq!(code(output.status), 2);
    assert!(text(&output.stderr).contains("give it keys"));
}

#[test]
fn a_server_that_is_not_there_ends_with_69() {
    let words = [
        "serve",
        "--store",
        "postgres://app:hunter2@127.0.0.1:1/x",
        "--listen",
        "127.0.0.1:0",
    ];
    let output = done(&mut bare(&words));
    assert_eq!(code(output.status), 69);
    assert!(!text(&output.stderr).contains("hunter2"));
}

#[test]
fn who_may_ask_what_is_decided_by_keys() {
    let dir = tempfile::tempdir().unwrap();
    let drawn = done(&mut bare(&["keys", "new", "shop", "--scopes", "read"]));
    let drawn = text(&drawn.stdout);
    let part = |name: &str| {
        let line = drawn.lines().find_map(|line| line.strip_prefix(name));
        line.expect("it is printed").trim().to_owned()
    };
    let (key, line) = (part("key "), part("line "));
    let keys = dir.path().join("keys");
    fs::write(&keys, format!("# ours\n{line}\n")).unwrap();
    let node = serve(dir.path(), &["--keys", keys.to_str().unwrap()]);
    let refused = node.ask(&["nodes"]);
    assert_eq!(code(refused.status), 69);
    assert!(text(&refused.stderr).contains("LOCKWORK_KEY"));
    let ask = |words: &[&str]| done(node.asking(words).env("LOCKWORK_KEY", &key));
    assert_eq!(code(ask(&["nodes"]).status), 0);
    let refused = ask(&["start", "greeting"]);
    assert_eq!(code(refused.status), 69);
    assert!(text(&refused.stderr).contains("`run`"));
}

#[test]
fn settings_come_from_a_file_and_the_environment_too() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("serve.toml");
    let lines = format!(
        "# ours\nstore = \"{}\"\nnode = \"from-the-file\"\n",
        store(dir.path())
    );
    fs::write(&file, &lines).unwrap();
    let mut command = bare(&["serve", "--config", file.to_str().unwrap()]);
    let node = Node::start(command.env("LOCKWORK_LISTEN", "127.0.0.1:0"));
    assert!(
        node.lines[0].ends_with("node from-the-file"),
        "{:?}",
        node.lines
    );
    fs::write(&file, format!("{lines}nodes = \"x\"\n")).unwrap();
    let output = done(&mut command);
    assert_eq!(code(output.status), 2);
    assert!(text(&output.stderr).contains("line 4: known are store"));
}

#[test]
fn nodes_share_a_store_and_each_ends_with_0() {
    let dir = tempfile::tempdir().unwrap();
    let one = serve(dir.path(), &["--node", "one"]);
    let two = serve(dir.path(), &["--node", "two"]);
    common::becomes("both are known", || {
        let found = one.json(&["nodes"]);
        let nodes = found["nodes"].as_array().unwrap();
        nodes.iter().filter(|node| node["alive"] == true).count() == 2
    });
    for node in [one, two] {
        let (output, _) = node.end(Signal::SIGTERM);
        assert_eq!(code(output.status), 0);
    }
}

#[test]
fn a_node_whose_work_takes_longer_than_its_drain_ends_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let long = r#"{ "lockwork": 1, "id": "long", "options": { "commit": "step" }, "root":
        { "type": "Sequence", "id": "main", "do": [
            { "type": "Log", "id": "say", "with": { "text": "begun" } },
            { "type": "Call", "id": "work", "with": { "name": "work", "args": { "ms": 5000 } } } ] } }"#;
    fs::write(dir.path().join("long.json"), long).unwrap();
    let folder = dir.path().to_str().unwrap();
    let node = serve(dir.path(), &["--drain", "100ms", "--definitions", folder]);
    let instance = text(&node.ask(&["start", "long"]).stdout).trim().to_owned();
    common::becomes("it has begun", || {
        let found = node.json(&["instances", "show", &instance]);
        let journal = found["journal"].as_array().unwrap().clone();
        journal.iter().any(|entry| entry["happened"] == "logged")
    });
    let began = Instant::now();
    let (output, _) = node.end(Signal::SIGTERM);
    let told = text(&output.stderr);
    assert_eq!(code(output.status), 0, "{told}");
    assert!(told.contains("it is done again elsewhere"), "{told}");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(4), "too late: {took:?}");
}

#[test]
fn how_long_a_drain_may_take_comes_from_a_file_and_the_environment_too() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("serve.toml");
    let lines = format!("store = \"{}\"\ndrain = \"soon\"\n", store(dir.path()));
    fs::write(&file, &lines).unwrap();
    let mut command = bare(&["serve", "--config", file.to_str().unwrap()]);
    let told = done(&mut command);
    assert_eq!(code(told.status), 2);
    let told = text(&told.stderr);
    assert!(told.contains("drain") && told.contains("30s"), "{told}");
    let told = done(command.env("LOCKWORK_DRAIN", "12"));
    assert!(text(&told.stderr).contains("12 of what?"));
    command.env("LOCKWORK_DRAIN", "12s");
    Node::start(command.env("LOCKWORK_LISTEN", "127.0.0.1:0"));
}

#[test]
fn nodes_on_several_machines_are_told_to_sign_links_alike() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("links");
    fs::write(&file, "x".repeat(32)).unwrap();
    // Nobody listens on port 1.
    let words = ["serve", "--store", "postgres://127.0.0.1:1/x"];
    let told = text(&done(&mut bare(&words)).stderr);
    assert!(told.contains("--secret-file"), "{told}");
    let same = [&words[..], &["--secret-file", file.to_str().unwrap()]].concat();
    let told = text(&done(&mut bare(&same)).stderr);
    assert!(!told.contains("--secret-file"), "{told}");
    let output = serve(dir.path(), &[]).end(Signal::SIGTERM).0;
    assert!(!text(&output.stderr).contains("--secret-file"));
}

#[test]
fn a_lock_can_be_taken_away_and_its_holder_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let locks = format!("file:{}", dir.path().join("locks").display());
    let ready = dir.path().join("ready");
    let script = format!("echo > {}; sleep 60", ready.display());
    let holder = bare(&["exec", "--locks", &locks, "n", "--", "sh", "-c", &script]).spawn();
    common::line(&ready);
    let words = ["locks", "holders", "--locks", &locks, "n", "--json"];
    let held = done(&mut bare(&words));
    let held: serde_json::Value = serde_json::from_slice(&held.stdout).unwrap();
    assert_eq!(held["holders"].as_array().unwrap().len(), 1);
    let words = ["locks", "break", "--locks", &locks, "n"];
    assert_eq!(
        code(done(&mut bare(&words)).status),
        2,
        "somebody has to say why"
    );
    let words = [&words[..], &["--why", "a test"]].concat();
    let broken = done(&mut bare(&words));
    assert_eq!(code(broken.status), 0, "{}", text(&broken.stderr));
    assert_eq!(code(common::wait(holder.unwrap()).status), 76);
}

#[test]
fn the_doctor_looks_at_what_dev_has_made_or_says_what_to_name() {
    let dir = tempfile::tempdir().unwrap();
    let look = |words: &[&str]| done(bare(words).current_dir(dir.path()));
    let output = look(&["doctor"]);
    assert_eq!(code(output.status), 2);
    assert!(text(&output.stderr).contains("--store URL"));
    Node::dev(&dir.path().join(".lockwork"), &[]).end(Signal::SIGTERM);
    let output = look(&["doctor"]);
    assert_eq!(code(output.status), 0, "{}", text(&output.stdout));
    let told = text(&output.stdout);
    for line in [
        "store .lockwork/lockwork.db",
        "locks ./.lockwork/locks",
        "nothing here breaks a promise",
    ] {
        assert!(told.lines().any(|said| said == line), "{line}: {told}");
    }
    let output = look(&["doctor", "--json", "--store", "sqlite:none/x.db"]);
    assert_eq!(code(output.status), 1);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["safe"], false);
    assert_eq!(found["findings"][0]["of"], "store");
    assert_eq!(found["findings"][0]["severity"], "unsafe");
    let output = look(&["doctor", "--store", "postgres://app:hunter2@127.0.0.1:1/x"]);
    assert_eq!(code(output.status), 69);
    assert!(!text(&output.stderr).contains("hunter2"));
}
