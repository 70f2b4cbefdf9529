//! Other processes that take locks, are killed and are frozen. Not threads.

use lockwork::{Instant, Token};
use std::{path::Path, process::Stdio, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A running `taker`: a process that does what it is told, line by line. Killed when dropped.
#[derive(Debug)]
pub struct Taker {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Taker {
    /// Starts `program`, the binary of this package, which connects to `url`.
    pub async fn start(program: &Path, url: &str) -> Self {
        Self::start_as(Command::new(program), url).await
    }

    /// The same, where it takes more than a program to start it.
    pub async fn start_as(mut command: Command, url: &str) -> Self {
        let mut child = command
            .arg(url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the taker starts");
        let orders = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut taker = Self {
            child,
            orders,
            answers,
        };
        assert_eq!(taker.answer().await, "ready");
        taker
    }

    /// Takes the mutex called `name`, waiting for as long as it takes; its token.
    pub async fn lock(&mut self, name: &str) -> Option<Token> {
        self.order(&format!("lock {name}")).await;
        self.token().await
    }

    /// Begins to wait for the mutex called `name`; [`Taker::token`] tells when it has it.
    pub async fn begin_lock(&mut self, name: &str) {
        self.order(&format!("lock {name}")).await;
    }

    /// Waits for the answer to [`Taker::begin_lock`].
    pub async fn token(&mut self) -> Option<Token> {
        let answer = self.answer().await;
        let token = answer
            .strip_prefix("held ")
            .unwrap_or_else(|| panic!("answered {answer:?}"));
        token.parse().ok()
    }

    /// Gives back what it took.
    pub async fn release(&mut self) {
        self.order("release").await;
        assert_eq!(self.answer().await, "released");
    }

    /// Ends without giving anything back.
    pub async fn exit(mut self) {
        self.order("exit").await;
        self.child.wait().await.expect("it ends");
    }

    /// Ends by SIGKILL, without a last word.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Its number at the system, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Looks at its guard without pause from now on, and tells what the first look after a gap of
    /// `gap` or more found: [`Taker::look_after_gap`].
    pub async fn watch(&mut self, gap: Duration) {
        self.order(&format!("watch {}", gap.as_millis())).await;
        assert_eq!(self.answer().await, "watching");
    }

    /// What the first look after the gap found: whether the guard was valid, and lost.
    pub async fn look_after_gap(&mut self) -> (bool, bool) {
        let answer = self.answer().await;
        match answer.split(' ').collect::<Vec<_>>()[..] {
            ["looked", valid, lost] => (valid == "valid", lost == "lost"),
            _ => panic!("answered {answer:?}"),
        }
    }

    /// Waits for its guard to be lost from now on, and tells when it was: [`Taker::off`].
    pub async fn watch_loss(&mut self) {
        self.order("off").await;
        assert_eq!(self.answer().await, "watching");
    }

    /// When its guard was lost.
    pub async fn off(&mut self) -> Instant {
        let answer = self.answer().await;
        let nanos = answer.strip_prefix("off ").and_then(|at| at.parse().ok());
        Instant::from_nanos(nanos.unwrap_or_else(|| panic!("answered {answer:?}")))
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

    async fn order(&mut self, order: &str) {
        self.orders
            .write_all(format!("{order}\n").as_bytes())
            .await
            .expect("it listens");
    }

    async fn answer(&mut self) -> String {
        let line = timeout(Duration::from_secs(20), self.answers.next_line()).await;
        line.expect("an answer: not within 20 s")
            .expect("a pipe")
            .expect("an answer before its end")
    }
}

/// Sends a signal to a process that runs.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    let pid = pid
        .and_then(rustix::process::Pid::from_raw)
        .expect("it runs");
    rustix::process::kill_process(pid, signal).expect("it can be signalled");
}
