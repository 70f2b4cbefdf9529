//! `bench`: measures, says what it found, and leaves nothing held.

use crate::common::{becomes, code, done, lockwork, send, text, wait};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::Path;

const SHORT: &[&str] = &["--seconds", "1", "--tasks", "4"];

fn bench(url: &str, more: &[&str]) -> std::process::Command {
    lockwork(&[&["bench", "--locks", url], SHORT, more].concat())
}

fn at(directory: &Path) -> String {
    format!("file:{}", directory.join("locks").display())
}

fn is_free(url: &str) -> bool {
    let output = done(&mut lockwork(&["locks", "ls", "--locks", url]));
    text(&output.stdout) == "nobody holds a lock here\n"
}

#[test]
fn a_measurement_has_numbers_that_fit_together() {
    let directory = tempfile::tempdir().unwrap();
    let url = at(directory.path());
    let output = done(&mut bench(&url, &["--json"]));
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "nobody watches");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["backend"], &found["seconds"]),
        (&"file".into(), &1.into())
    );
    assert_eq!(found["interrupted"], false);
    for what in ["uncontended", "handoff"] {
        let samples = &found[what];
        let number = |key: &str| samples[key].as_u64();
        assert!(number("count") > Some(0), "{what}: {samples}");
        assert!(number("p50_ns") > Some(0) && number("p50_ns") <= number("max_ns"));
        let histogram = samples["histogram"].as_array().unwrap();
        let counts = histogram
            .iter()
            .map(|bucket| bucket["count"].as_u64().unwrap());
        assert_eq!(Some(counts.sum()), number("count"), "{what}");
    }
    let throughput = &found["throughput"];
    assert_eq!(throughput["tasks"], 4);
    let (count, rate) = (
        throughput["count"].as_u64(),
        throughput["per_second"].as_u64(),
    );
    assert!(
        count > Some(0) && rate > Some(0) && rate <= count,
        "{throughput}"
    );
    assert!(is_free(&url));
}

#[test]
fn people_get_a_table_and_a_picture() {
    let output = done(&mut bench("memory:", &[]));
    assert_eq!(code(output.status), 0);
    let shown = text(&output.stdout);
    for part in [
        "TIMES",
        "P50",
        "P99",
        "from release to grant",
        "a second by 4 tasks",
        "up to",
        "####",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let said = text(&output.stderr);
    assert_eq!(
        said,
        "lockwork: these locks are within this process: no server is measured\n"
    );
}

#[test]
fn who_is_interrupted_says_what_there_is_and_gives_everything_back() {
    let directory = tempfile::tempdir().unwrap();
    let url = at(directory.path());
    let words = ["bench", "--locks", &url, "--seconds", "60", "--json"];
    let child = lockwork(&words).spawn().unwrap();
    becomes("it has begun", || {
        let made = std::fs::read_dir(directory.path().join("locks"));
        made.is_ok_and(|mut made| made.next().is_some())
    });
    send(&child, Signal::SIGINT);
    let output = wait(child);
    assert_eq!(code(output.status), 130, "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["interrupted"], true);
    assert_eq!(found["handoff"]["p50_ns"], Value::Null);
    assert!(is_free(&url));
}

#[test]
fn nonsense_is_refused_with_a_sentence_that_helps() {
    let cases: &[(&[&str], &str)] = &[
        (&["bench", "--seconds", "0"], "from 1 to 60"),
        (&["bench", "--seconds", "1h"], "from 1 to 60"),
        (&["bench", "--tasks", "0"], "from 1 to 1000"),
        (&["bench", "--tasks", "all"], "from 1 to 1000"),
        (&["bench", "file:./locks"], "--locks URL"),
        (&["bench", "--locks", ""], "Add --locks URL"),
        (&["bench", "--locks", "file://locks"], "file:./locks"),
    ];
    for (words, hint) in cases {
        let output = done(&mut lockwork(words));
        assert_eq!(code(output.status), 2, "{words:?}");
        let said = text(&output.stderr);
        assert!(said.contains(hint), "{words:?}: {said}");
    }
}
