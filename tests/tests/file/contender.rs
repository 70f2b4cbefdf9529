//! Running the binary of that name.

use crate::stays::Stay;
use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// The group all users of the tests are in.
pub(crate) const GROUP: u32 = 65_534;

/// A running `contender`. Killed when dropped.
pub struct Contender {
    child: Child,
    orders: ChildStdin,
    lines: mpsc::Receiver<String>,
}

/// No test waits longer for a line.
const LIMIT: Duration = Duration::from_secs(60);

impl Contender {
    pub fn program() -> &'static str {
        env!("CARGO_BIN_EXE_contender")
    }

    /// One that waits for [`Contender::go`].
    pub fn new(url: &str, kind: &str, name: &str, count: usize) -> Self {
        let contender = Self::start(None, url, kind, name, count);
        assert_eq!(contender.line().as_deref(), Some("ready"));
        contender
    }

    /// Another user's, if one is named, of whom nothing has been heard.
    pub fn start(user: Option<u32>, url: &str, kind: &str, name: &str, count: usize) -> Self {
        let mut command = Command::new(Self::program());
        command.args([url, kind, name, &count.to_string()]);
        if let Some(user) = user {
            command.uid(user).gid(GROUP).current_dir("/");
        }
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let (heard, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in answers.lines().map_while(Result::ok) {
                if heard.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            orders,
            lines,
        }
    }

    /// Its number at the system.
    #[allow(dead_code, reason = "not every test that has one asks")]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn go(&mut self) {
        // One that has said what is wrong no longer listens.
        let _ = self.orders.write_all(b"go\n");
    }

    /// The next line; `None` at its end.
    pub fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("a line: not within {LIMIT:?}"),
        }
    }

    /// All that it will print.
    pub fn rest(&self) -> Vec<String> {
        std::iter::from_fn(|| self.line()).collect()
    }

    /// Its stays, when it is done.
    pub fn stays(self) -> Vec<Stay> {
        self.rest()
            .iter()
            .map(|line| line.parse().unwrap())
            .collect()
    }

    /// Ends it with SIGKILL; children of its own may have its standard output yet.
    pub fn kill_only(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it with SIGKILL, and gives what it has printed.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.rest()
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets `number` processes of a kind contend, and gives their stays when all are done.
pub fn contend(number: usize, url: &str, kind: &str, name: &str, count: usize) -> Vec<Stay> {
    let start = |_| Contender::new(url, kind, name, count);
    let mut contenders: Vec<_> = (0..number).map(start).collect();
    for contender in &mut contenders {
        contender.go();
    }
    contenders.into_iter().flat_map(Contender::stays).collect()
}
