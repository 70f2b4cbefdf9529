//! Another process that runs workflows, is told what to do, and is killed.

use super::Order;
#[cfg(unix)]
use crate::process::signal;
use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A running `workflow-node`. Killed when dropped.
#[derive(Debug)]
pub struct Node {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    told: u64,
}

/// What a node says about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which order, by the number [`Node::tell`] gave.
    pub order: u64,
    /// What went wrong, if anything did.
    pub error: Option<String>,
}

impl Node {
    /// Starts `program`, the binary of this package, on the store at `url`.
    pub async fn start(program: &Path, url: &str) -> Self {
        Self::start_with(program, &[url]).await
    }

    /// The same of a program that is told more.
    pub async fn start_with(program: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the node starts");
        let orders = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut node = Self {
            child,
            orders,
            answers,
            told: 0,
        };
        let ready = timeout(Duration::from_secs(40), node.line()).await;
        let ready = ready.expect("it was not ready: not within 40 s");
        assert_eq!(ready.as_deref(), Some("ready"));
        node
    }

    /// Tells it something; the number under which it answers. That it is dead already is noticed elsewhere.
    pub async fn tell(&mut self, order: &Order) -> u64 {
        self.told += 1;
        let line = format!("{} {}\n", self.told, order.line());
        let _ = self.orders.write_all(line.as_bytes()).await;
        self.told
    }

    /// Its next answer; none, if it is dead.
    pub async fn answer(&mut self) -> Option<Answer> {
        let line = self.line().await?;
        let (order, said) = line.split_once(' ').expect("an answer");
        let error = (said != "done").then(|| said.to_owned());
        let order = order.parse().expect("the number of an order");
        Some(Answer { order, error })
    }

    /// What it says to a question that is no order, such as `memory`.
    pub async fn ask(&mut self, question: &str) -> String {
        let line = format!("{question}\n");
        self.orders
            .write_all(line.as_bytes())
            .await
            .expect("it listens");
        let answer = timeout(Duration::from_secs(60), self.line()).await;
        let answer = answer.expect("an answer: not within 60 s");
        answer.expect("it lives")
    }

    async fn line(&mut self) -> Option<String> {
        self.answers.next_line().await.ok().flatten()
    }

    /// Ends it by SIGKILL, without a last word.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Tells it to end by SIGTERM, and waits until it has. None, if it has not within `limit`: then it is killed.
    #[cfg(unix)]
    pub async fn end(mut self, limit: Duration) -> Option<ExitStatus> {
        signal(&self.child, rustix::process::Signal::TERM);
        let ended = async {
            // Nobody asks for its last answers, but it must be able to give them.
            while self.line().await.is_some() {}
            self.child.wait().await.ok()
        };
        timeout(limit, ended).await.ok().flatten()
    }

    /// Stops it where it is.
    #[cfg(unix)]
    pub fn freeze(&self) {
        signal(&self.child, rustix::process::Signal::STOP);
    }

    /// Lets it go on.
    #[cfg(unix)]
    pub fn thaw(&self) {
        signal(&self.child, rustix::process::Signal::CONT);
    }

    /// Its number at the system, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }
}
