//! `locks ls`: what is held is shown, whoever holds it.

use crate::common::{code, done, lockwork, pid, text, wait};
use nix::sys::signal::{Signal, kill};
use serde_json::Value;
use std::{path::Path, process::Child};

fn at(directory: &Path) -> String {
    format!("file:{}", directory.join("locks").display())
}

fn list(url: &str, more: &[&str]) -> String {
    let words = [&["locks", "ls", "--locks", url], more].concat();
    let output = done(&mut lockwork(&words));
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    text(&output.stdout)
}

fn json(url: &str, more: &[&str]) -> Vec<Value> {
    let told = list(url, &[&["--json"], more].concat());
    let mut told: Value = serde_json::from_str(&told).expect("JSON");
    serde_json::from_value(told["locks"].take()).expect("a list")
}

/// Somebody who holds the mutex `name` until it is killed.
fn holder(url: &str, name: &str, ready: &Path) -> Child {
    let script = format!("echo > {}; sleep 60", ready.display());
    let words = ["exec", "--locks", url, name, "--", "sh", "-c", &script];
    let child = lockwork(&words).spawn().expect("it starts");
    crate::common::line(ready);
    child
}

#[test]
fn what_others_hold_is_listed_until_they_give_it_back() {
    let directory = tempfile::tempdir().unwrap();
    let url = at(directory.path());
    assert_eq!(list(&url, &[]), "nobody holds a lock here\n");
    let plain = holder(&url, "nightly", &directory.path().join("one"));
    let strange = holder(&url, "a/b", &directory.path().join("two"));
    let all = json(&url, &[]);
    let names: Vec<_> = all
        .iter()
        .map(|lock| (&lock["name"], &lock["whole_name"]))
        .collect();
    assert_eq!(
        names,
        [
            (&"a_b".into(), &false.into()),
            (&"nightly".into(), &true.into())
        ]
    );
    let nightly = &all[1];
    assert_eq!(
        (&nightly["kind"], &nightly["waiting"]),
        (&"mutex".into(), &serde_json::json!([]))
    );
    let holder = &nightly["holders"][0];
    assert!(
        holder["token"].is_string() && holder["since_unix_ms"].is_u64(),
        "{holder}"
    );
    let client = holder["client"].as_str().unwrap();
    assert!(
        client.ends_with(&format!("process {}", plain.id())),
        "{client}"
    );
    assert_eq!(json(&url, &["night"]).len(), 1);
    assert_eq!(json(&url, &["a/"]).len(), 1);
    assert_eq!(json(&url, &["b"]).len(), 0);
    let table = list(&url, &[]);
    assert!(table.starts_with("NAME"), "{table}");
    assert!(
        table.contains("\na_b…") && table.contains("\nnightly "),
        "{table}"
    );
    for child in [plain, strange] {
        kill(pid(&child), Signal::SIGTERM).unwrap();
        wait(child);
    }
    assert_eq!(list(&url, &[]), "nobody holds a lock here\n");
}

#[test]
fn a_file_that_is_no_lock_hides_none() {
    let directory = tempfile::tempdir().unwrap();
    let url = at(directory.path());
    let child = holder(&url, "nightly", &directory.path().join("one"));
    let locks = directory.path().join("locks");
    let stem = "mutex-x-qe5gqesde2oy63niinvgto5fdo247g4z.lock";
    for name in ["notes.lock", stem] {
        std::fs::write(locks.join(name), "something else").unwrap();
    }
    assert_eq!(json(&url, &[]).len(), 1);
    kill(pid(&child), Signal::SIGTERM).unwrap();
    wait(child);
}
