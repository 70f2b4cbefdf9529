//! A server in a process of its own, which can be killed and frozen.

use super::{Settings, start::url};
use std::{net::SocketAddr, path::Path, process::Stdio, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// A running `sqlserver-standin`. Killed when dropped.
#[derive(Debug)]
pub struct StandInProcess {
    child: Child,
    address: SocketAddr,
    settings: Settings,
}

impl StandInProcess {
    /// Starts `program`, the binary of this package.
    ///
    /// # Panics
    /// If it does not say where it is within 20 s.
    pub async fn start(program: &Path, settings: Settings) -> Self {
        let mut child = Command::new(program)
            .args(settings.to_arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the stand-in starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let line = timeout(Duration::from_secs(20), lines.next_line()).await;
        let line = line.expect("a line: not within 20 s").expect("a pipe");
        let address = line
            .as_deref()
            .and_then(|it| it.strip_prefix("listening on "));
        let address = address.and_then(|it| it.parse().ok());
        Self {
            child,
            address: address.unwrap_or_else(|| panic!("said {line:?}")),
            settings,
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The password of `sa`.
    #[must_use]
    pub fn password(&self) -> &str {
        self.settings.password()
    }

    /// The URL of its database `master` for `sa`.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address, self.password())
    }

    /// Ends it by SIGKILL.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Ends it by closing its standard input, or waits for its end after SHUTDOWN.
    pub async fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().await.expect("it ends");
    }

    /// Stops it where it is, and waits until it stands still.
    #[cfg(unix)]
    pub fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
        let stopped = rustix::process::WaitOptions::UNTRACED;
        rustix::process::waitpid(Some(self.pid()), stopped).expect("it is ours to wait for");
    }

    /// Lets it go on.
    #[cfg(unix)]
    pub fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("it can be signalled");
    }

    #[cfg(unix)]
    fn pid(&self) -> rustix::process::Pid {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        pid.and_then(rustix::process::Pid::from_raw)
            .expect("it runs")
    }
}
