//! Running the command on some locks: always with a limit, never leaving anything behind.

use lockwork::Instant;
use lockwork_conformance::standin::Server;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// Nothing here takes longer, however busy the machine is.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Tells its group and its guardian, then is four processes that SIGTERM does not impress.
const PIPELINE: &str = "trap '' TERM; echo $PPID > guardian.$$; echo $$ > group.new; \
                        mv group.new group.$$; sleep 300 | sleep 300 | sleep 300";

/// Locks to run commands under, and a directory to run them in.
pub(crate) struct On {
    url: String,
    pub(crate) dir: TempDir,
}

/// Leases of `time`.
pub(crate) fn lease(server: &Server, time: Duration) -> On {
    let millis = time.as_millis();
    On::at(format!(
        "standin-lease://{}?lease={millis}ms",
        server.addr()
    ))
}

/// Sessions, which have no time.
pub(crate) fn session(server: &Server, _: Duration) -> On {
    On::at(format!("standin-session://{}", server.addr()))
}

/// File locks, which rest on descriptors.
pub(crate) fn files() -> On {
    let mut on = On::at(String::new());
    on.url = format!("file:{}/locks", on.dir.path().display());
    on
}

impl On {
    /// Locks at any URL the command of this package knows.
    pub(crate) fn at(url: String) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        Self { url, dir }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork-standin"));
        command
            .args(words)
            .env("LOCKWORK_URL", &self.url)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts `lockwork exec` of a command.
    pub(crate) fn run(&self, options: &[&str], name: &str, command: &[&str]) -> Running {
        let words = ["exec"].iter().chain(options).chain([&name, &"--"]);
        let words: Vec<_> = words.chain(command).copied().collect();
        let child = self.command(&words).spawn().expect("it starts");
        Running {
            child: Some(child),
            dir: self.dir.path().to_owned(),
            group: None,
        }
    }

    /// Starts `lockwork exec` of a shell script under the lock `n`.
    pub(crate) fn start(&self, options: &[&str], script: &str) -> Running {
        self.run(options, "n", &["sh", "-c", script])
    }

    /// What came of a shell script under the lock `n`.
    pub(crate) fn done(&self, options: &[&str], script: &str) -> Output {
        self.start(options, script).wait()
    }

    /// A command of four processes, once all of them run.
    pub(crate) fn pipeline(&self, options: &[&str]) -> Running {
        let running = self.start(options, PIPELINE).with_group();
        becomes("the pipeline runs", || running.members() == 4);
        running
    }

    /// What another verb prints.
    pub(crate) fn tell(&self, words: &[&str]) -> String {
        let output = self.command(words).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.dir.path().join(file).exists()
    }
}

/// A `lockwork exec`. Killed when dropped, and its command with it.
pub(crate) struct Running {
    child: Option<Child>,
    dir: PathBuf,
    group: Option<Pid>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// Waits until its command has told its group, in a file that another's is not.
    pub(crate) fn with_group(mut self) -> Self {
        becomes("the command tells its group", || {
            self.told_group().is_some()
        });
        self.group = self.told_group();
        self
    }

    /// The newest group told in the directory that is a grandchild of this `exec`.
    fn told_group(&self) -> Option<Pid> {
        let entries = std::fs::read_dir(&self.dir).ok()?.flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter_map(|name| pid(name.strip_prefix("group.")?.parse().ok()?))
            .find(|group| {
                let guardian = parent(*group).and_then(parent);
                guardian == Some(self.pid())
            })
    }

    pub(crate) fn pid(&self) -> Pid {
        let child = self.child.as_ref().expect("it runs");
        Pid::from_child(child)
    }

    fn group(&self) -> Pid {
        self.group.expect("the group was told")
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it can be signalled");
    }

    pub(crate) fn send_group(&self, signal: Signal) {
        kill_process_group(self.group(), signal).expect("it can be signalled");
    }

    pub(crate) fn send_guardian(&self, signal: Signal) {
        kill_process(self.guardian(), signal).expect("it can be signalled");
    }

    fn guardian(&self) -> Pid {
        let file = format!("guardian.{}", self.group().as_raw_nonzero());
        let text = std::fs::read_to_string(self.dir.join(file)).expect("it was told");
        pid(text.trim().parse().expect("a number")).expect("a process")
    }

    /// How many lock files the guardian has open.
    pub(crate) fn opened_by_guardian(&self) -> usize {
        opened(self.guardian(), &self.dir.join("locks"))
    }

    /// How many lock files the command has open.
    pub(crate) fn opened_by_command(&self) -> usize {
        opened(self.group(), &self.dir.join("locks"))
    }

    pub(crate) fn is_alive(&self) -> bool {
        stat(self.pid()).is_some_and(|(state, ..)| !matches!(state, 'Z' | 'X'))
    }

    /// How many of its command are alive.
    pub(crate) fn members(&self) -> usize {
        members(self.group())
    }

    /// Waits until nothing of its command is alive, and says how long that took.
    pub(crate) fn all_gone(&self) -> Duration {
        becomes("the group is gone", || self.members() == 0)
    }

    pub(crate) fn wait(mut self) -> Output {
        let child = self.child.take().expect("it runs");
        let exec = Pid::from_child(&child);
        let (send, receive) = mpsc::channel();
        thread::spawn(move || send.send(child.wait_with_output()));
        let output = receive.recv_timeout(LIMIT).unwrap_or_else(|_| {
            let _ = kill_process(exec, Signal::KILL);
            panic!("it did not end within {LIMIT:?}")
        });
        let output = output.expect("its output can be read");
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until `fact` is true, and says how long that took.
pub(crate) fn becomes(what: &str, fact: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    while !fact() {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(2));
    }
    start.elapsed()
}

/// How many are in `group` and alive.
pub(crate) fn members(group: Pid) -> usize {
    let all = std::fs::read_dir("/proc").expect("there are processes");
    let names = all
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| pid(name.parse().ok()?));
    pids.filter_map(stat)
        .filter(|(state, _, its_group)| !matches!(state, 'Z' | 'X') && *its_group == Some(group))
        .count()
}

/// How many descriptors of `by` are of files in `directory`.
fn opened(by: Pid, directory: &Path) -> usize {
    let all = std::fs::read_dir(format!("/proc/{}/fd", by.as_raw_nonzero()));
    let files = all.expect("it runs").flatten();
    let files = files.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    files
        .filter(|file| file.parent() == Some(directory))
        .count()
}

fn parent(of: Pid) -> Option<Pid> {
    stat(of)?.1
}

/// The state, the parent and the group: see `proc_pid_stat(5)`.
fn stat(of: Pid) -> Option<(char, Option<Pid>, Option<Pid>)> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", of.as_raw_nonzero())).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let mut next = || fields.next()?.parse().ok().and_then(pid);
    Some((state, next(), next()))
}

/// One that is just leaving is in no group any more, which is told as -1.
fn pid(raw: i32) -> Option<Pid> {
    Pid::from_raw(raw.max(0))
}
