//! `lockwork demo cluster`: a node dies, each order is done once, and nothing of the demo is left behind.

#![cfg(target_os = "linux")]

mod common;

use common::{
    becomes, code, is_alive,
    node::{Node, bare},
    send, text, wait,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Output},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

/// A takeover alone takes more than six seconds, and the machine may be busy.
const LONG: Duration = Duration::from_secs(120);

/// A demo whose output is no terminal.
struct Demo {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

/// Nodes that a demo has left behind, if it should. Killed with the test.
struct Left(Vec<Pid>);

impl Drop for Left {
    fn drop(&mut self) {
        for pid in self.0.iter().filter(|pid| is_alive(**pid)) {
            let _ = kill(*pid, Signal::SIGKILL);
        }
    }
}

impl Demo {
    fn start(temporary: &Path, words: &[&str]) -> Self {
        let all: Vec<_> = ["demo", "cluster"].iter().chain(words).copied().collect();
        let mut command = bare(&all);
        // Somebody else's store and keys are none of its business.
        command.env("LOCKWORK_STORE", "postgres://127.0.0.1:1/x");
        command.env("LOCKWORK_KEYS", "/nowhere");
        let mut child = command.env("TMPDIR", temporary).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.map(|line| tell.send(line)).find(Result::is_err)
        });
        let said = Vec::new();
        Self { child, lines, said }
    }

    /// Waits for a line with `text` in it.
    fn says(&mut self, text: &str) {
        while !self.said.iter().any(|line| line.contains(text)) {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => self.said.push(line),
                Err(why) => {
                    let _ = self.child.kill();
                    panic!("{text:?}: {}: {:#?}", silent(why), self.said)
                }
            }
        }
    }

    /// The processes of its nodes, as it says.
    fn nodes(&self) -> Vec<Pid> {
        let told = self.said.iter();
        let told = told.filter_map(|line| line.split_once("process ")?.1.split(',').next());
        told.map(|pid| Pid::from_raw(pid.parse().expect("a number")))
            .collect()
    }

    /// What came of it, once it has said everything.
    fn end(mut self) -> (Output, Vec<String>) {
        while let Ok(line) = self.lines.recv_timeout(LONG) {
            self.said.push(line);
        }
        (wait(self.child), self.said)
    }
}

/// One that takes long is late; one that has closed its output never says it.
fn silent(why: RecvTimeoutError) -> String {
    match why {
        RecvTimeoutError::Timeout => format!("not within {LONG:?}"),
        RecvTimeoutError::Disconnected => "it has ended without it".to_owned(),
    }
}

fn is_empty(dir: &Path) -> bool {
    let mut inside = std::fs::read_dir(dir).expect("a directory");
    inside.next().is_none()
}

#[test]
fn of_many_orders_each_is_finished_once_though_a_node_is_killed() {
    let (dir, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = dir.path().to_str().unwrap();
    let mut demo = Demo::start(temporary.path(), &["--orders", "6", "--dir", kept]);
    demo.says("is killed");
    let nodes = demo.nodes();
    assert_eq!(nodes.len(), 3);
    let (output, said) = demo.end();
    assert_eq!(code(output.status), 0, "{said:#?} {}", text(&output.stderr));
    let all = said.join("\n");
    assert!(
        all.contains("6 orders started, 6 finished, each once"),
        "{all}"
    );
    assert!(all.contains("goes on with one of them"), "{all}");
    assert!(!all.contains('\x1b'), "no terminal is there: {all}");
    assert!(nodes.iter().all(|pid| !is_alive(*pid)));
    assert!(is_empty(temporary.path()));
    // Not only by its own account.
    let node = Node::dev(dir.path(), &[]);
    for definition in ["demo-order", "demo-parcel"] {
        let found = node.json(&["instances", "ls", "--definition", definition]);
        let found = found["instances"].as_array().unwrap().clone();
        assert_eq!(found.len(), 6, "{found:#?}");
        let parcels = found.iter().map(|one| {
            let shown = node.json(&["instances", "show", one["instance"].as_str().unwrap()]);
            assert_eq!(shown["state"]["subStatus"], "finished");
            shown["state"]["output"]["parcel"].to_string()
        });
        let parcels: BTreeSet<_> = parcels.collect();
        assert_eq!(parcels.len(), 6, "{parcels:?}");
    }
}

#[test]
fn what_came_of_it_is_json_for_programs() {
    let temporary = tempfile::tempdir().unwrap();
    let words = ["--orders", "1", "--nodes", "2", "--json"];
    let (output, said) = Demo::start(temporary.path(), &words).end();
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let told: serde_json::Value = serde_json::from_str(&said.join("\n")).unwrap();
    assert_eq!(told["once"], true);
    assert_eq!(told["nodes"], 2);
    assert_eq!(
        [&told["orders"], &told["finished"], &told["parcels"]],
        [1, 1, 1]
    );
    let took = told["killed"]["lastTakenOverMs"].as_u64().unwrap();
    assert!(took > 0, "{told:#}");
    assert!(is_empty(temporary.path()));
}

#[test]
fn nothing_of_an_interrupted_demo_is_left_behind() {
    for (signal, ends_with) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let temporary = tempfile::tempdir().unwrap();
        let mut demo = Demo::start(temporary.path(), &[]);
        demo.says("orders are started");
        let nodes = demo.nodes();
        assert!(nodes.len() == 3 && nodes.iter().all(|pid| is_alive(*pid)));
        assert!(!is_empty(temporary.path()));
        send(&demo.child, signal);
        let (output, said) = demo.end();
        assert_eq!(code(output.status), ends_with, "{said:#?}");
        assert!(nodes.iter().all(|pid| !is_alive(*pid)), "{signal}");
        assert!(is_empty(temporary.path()), "{signal}");
    }
}

#[test]
fn nodes_end_with_a_demo_that_is_killed() {
    let temporary = tempfile::tempdir().unwrap();
    let mut demo = Demo::start(temporary.path(), &[]);
    demo.says("orders are started");
    let nodes = Left(demo.nodes());
    send(&demo.child, Signal::SIGKILL);
    becomes("its nodes end", || {
        !nodes.0.iter().any(|pid| is_alive(*pid))
    });
    demo.end();
}

#[test]
fn locks_that_keep_no_other_process_out_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let words = ["--store", "sqlite:x.db", "--locks", "memory:"];
    let (output, _) = Demo::start(temporary.path(), &words).end();
    assert_eq!(code(output.status), 2);
    assert!(text(&output.stderr).contains("keep no other process out"));
    assert!(is_empty(temporary.path()));
}
