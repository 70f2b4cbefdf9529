//! Nodes in tests: each in a directory of its own, on a port that is free, ended with the test.

use super::{LIMIT, done, send, text, wait};
use nix::{sys::signal::Signal, unistd::Pid};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
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
                Err(why) => {
                    let _ = child.kill();
                    let told = text(&wait(child).stderr);
                    panic!("{}: {lines:?}, {told}", unready(why))
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

    /// Waits until it has said `wanted` on standard error, of which nobody else learns anything then.
    pub(crate) fn tells(&mut self, wanted: &str) {
        let child = self.child.as_mut().expect("it runs");
        let errors = BufReader::new(child.stderr.take().expect("its errors"));
        let (tell, told) = mpsc::channel();
        // Reads on when nobody listens: the node must not have to wait for a reader.
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let mut said = String::new();
        while !said.contains(wanted) {
            match told.recv_timeout(LIMIT) {
                Ok(line) => said += &line,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("not within {LIMIT:?}: {wanted:?}: {said}")
                }
                Err(RecvTimeoutError::Disconnected) => panic!("it never says {wanted:?}: {said}"),
            }
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        super::pid(self.child.as_ref().expect("it runs"))
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

/// One that takes long is late; one that has closed its output never comes.
fn unready(why: RecvTimeoutError) -> String {
    match why {
        RecvTimeoutError::Timeout => format!("it is ready: not within {LIMIT:?}"),
        RecvTimeoutError::Disconnected => "it has ended before it was ready".to_owned(),
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
