//! Nodes in tests: each in a directory of its own, on a port that is free, ended with the test.

use super::{LIMIT, done, send, text, wait};
use nix::sys::signal::Signal;
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// `lockwork` with these words, and nothing from the environment.
pub(crate) fn bare(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LOCKWORK_") {
            command.env_remove(name);
        }
    }
    command
}

/// A node that has said where it is.
pub(crate) struct Node {
    child: Option<Child>,
    rest: Receiver<String>,
    /// What it has said.
    pub(crate) lines: Vec<String>,
    pub(crate) url: String,
    /// How long it took to say that.
    pub(crate) took: Duration,
}

impl Node {
    /// `lockwork dev` on what is in `dir`.
    pub(crate) fn dev(dir: &Path, options: &[&str]) -> Self {
        let dir = dir.to_str().expect("a path that is text");
        let words = ["dev", "--listen", "127.0.0.1:0", "--dir", dir];
        let words: Vec<_> = words.iter().chain(options).copied().collect();
        Self::start(&mut bare(&words))
    }

    /// A node, once it has said everything.
    pub(crate) fn start(command: &mut Command) -> Self {
        let began = Instant::now();
        let mut child = command.spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (tell, rest) = mpsc::channel();
        thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.map(|line| tell.send(line)).find(Result::is_err)
        });
        let mut lines: Vec<String> = Vec::new();
        while !lines.last().is_some_and(|line| line.starts_with("Try")) {
            match rest.recv_timeout(LIMIT) {
                Ok(line) => lines.push(line),
                Err(_) => {
                    let _ = child.kill();
                    let output = wait(child);
                    panic!("it is not ready: {lines:?}, {}", text(&output.stderr))
                }
            }
        }
        let api = lines.iter().find_map(|line| line.strip_prefix("API"));
        let url = api.and_then(|rest| rest.split_whitespace().next());
        let url = url.expect("where it is").to_owned();
        let (child, took) = (Some(child), began.elapsed());
        Self {
            child,
            rest,
            lines,
            url,
            took,
        }
    }

    /// `lockwork` with these words, asking this node.
    pub(crate) fn asking(&self, words: &[&str]) -> Command {
        let mut command = bare(words);
        command.env("LOCKWORK_NODE_URL", &self.url);
        command
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Output {
        done(&mut self.asking(words))
    }

    /// The answer to something that goes well, as JSON.
    pub(crate) fn json(&self, words: &[&str]) -> serde_json::Value {
        let words: Vec<_> = words.iter().chain(&["--json"]).copied().collect();
        let output = self.ask(&words);
        let told = text(&output.stderr);
        assert!(output.status.success(), "{words:?}: {told}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.child.as_ref().expect("it runs"), signal);
    }

    /// What came of it, and what it said besides.
    pub(crate) fn end(mut self, signal: Signal) -> (Output, Vec<String>) {
        self.signal(signal);
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> (Output, Vec<String>) {
        let output = wait(self.child.take().expect("it runs"));
        (output, self.rest.iter().collect())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
