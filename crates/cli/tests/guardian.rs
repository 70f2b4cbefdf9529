//! Whether anything of the command outlives `exec`, its guardian or itself.

#![cfg(target_os = "linux")]

mod common;

use common::{becomes, code, is_alive, is_stopped, members, number, script, send, text, wait};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{path::Path, process::Child, time::Duration};
use tempfile::TempDir;

/// Tells its group and its guardian, then is four processes that SIGTERM does not impress.
const PIPELINE: &str = "trap '' TERM; echo $PPID > guardian; echo $$ > group; \
                        sleep 300 | sleep 300 | sleep 300";
/// What is sent has an effect within this, on a busy machine.
const SOON: Duration = Duration::from_secs(2);

struct Running {
    exec: Child,
    guardian: Pid,
    group: Pid,
    _dir: TempDir,
}

impl Running {
    fn start(options: &[&str], text: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let exec = script(options, text).current_dir(&dir).spawn();
        let exec = exec.expect("it starts");
        let file = |name: &str| number(&Path::new(dir.path()).join(name));
        let (group, guardian) = (file("group"), file("guardian"));
        Self {
            exec,
            guardian,
            group,
            _dir: dir,
        }
    }

    fn pipeline(options: &[&str]) -> Self {
        let running = Self::start(options, PIPELINE);
        becomes("the pipeline runs", || members(running.group).len() == 4);
        running
    }

    fn all_gone(&self) -> Duration {
        becomes("the group is gone", || members(self.group).is_empty())
    }
}

#[test]
fn a_killed_exec_takes_the_whole_command_with_it() {
    let mut running = Running::pipeline(&[]);
    send(&running.exec, Signal::SIGKILL);
    let took = running.all_gone();
    println!("all four were dead {took:?} after exec was killed");
    assert!(took < SOON, "too late: {took:?}");
    becomes("the guardian is gone", || !is_alive(running.guardian));
    running.exec.wait().unwrap();
}

#[test]
fn a_killed_guardian_takes_the_whole_command_with_it() {
    let running = Running::pipeline(&[]);
    kill(running.guardian, Signal::SIGKILL).unwrap();
    let took = running.all_gone();
    println!("all four were dead {took:?} after the guardian was killed");
    assert!(took < SOON, "too late: {took:?}");
    let output = wait(running.exec);
    assert_eq!(code(output.status), 71);
    assert!(text(&output.stderr).contains("lockwork: the guardian was killed"));
}

#[test]
fn exec_and_guardian_killed_at_once_leave_no_command() {
    // Whatever they do not get to do, the system does: for the command, not for its children.
    let mut running = Running::start(
        &[],
        "echo $PPID > guardian; echo $$ > group; exec sleep 300",
    );
    send(&running.exec, Signal::SIGSTOP);
    kill(running.guardian, Signal::SIGKILL).unwrap();
    running.all_gone();
    send(&running.exec, Signal::SIGKILL);
    running.exec.wait().unwrap();
}

#[test]
fn a_frozen_guardian_is_woken_by_the_death_of_exec() {
    // It is alone in its process group, which is an orphan then: exit(3), on stopped members.
    let mut running = Running::pipeline(&[]);
    kill(running.guardian, Signal::SIGSTOP).unwrap();
    becomes("it is frozen", || is_stopped(running.guardian));
    send(&running.exec, Signal::SIGKILL);
    running.all_gone();
    running.exec.wait().unwrap();
}

#[test]
fn those_a_command_leaves_behind_are_asked_to_end() {
    let text = "echo $PPID > guardian; echo $$ > group; \
                sh -c 'trap \"echo asked; exit\" TERM; echo > ready; while :; do sleep 0.02; done' & \
                while [ ! -e ready ]; do sleep 0.02; done; exit 3";
    let running = Running::start(&["--grace", "15s"], text);
    let group = running.group;
    let output = wait(running.exec);
    assert_eq!(code(output.status), 3);
    assert_eq!(common::text(&output.stdout), "asked\n");
    assert!(members(group).is_empty());
}

#[test]
fn those_a_command_leaves_behind_are_killed_after_the_grace() {
    let text = "trap '' TERM; echo $PPID > guardian; echo $$ > group; sleep 300 & exit 3";
    let running = Running::start(&["--grace", "100ms"], text);
    let group = running.group;
    let output = wait(running.exec);
    assert_eq!(code(output.status), 3);
    assert!(members(group).is_empty());
}

#[test]
fn the_guardian_bears_the_signals_that_end_a_program() {
    let running = Running::start(
        &[],
        "echo $PPID > guardian; echo $$ > group; while [ ! -e go ]; do sleep 0.02; done; exit 5",
    );
    for signal in [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGUSR1,
    ] {
        kill(running.guardian, signal).unwrap();
    }
    std::fs::write(running._dir.path().join("go"), "").unwrap();
    assert_eq!(code(wait(running.exec).status), 5);
}

#[test]
fn a_killed_job_takes_the_command_with_it() {
    // As `kill -9 %1` does: everything in the group of `exec`.
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let mut command = script(&[], PIPELINE);
    let mut exec = command.current_dir(&dir).process_group(0).spawn().unwrap();
    let group = number(&dir.path().join("group"));
    becomes("the pipeline runs", || members(group).len() == 4);
    nix::sys::signal::killpg(common::pid(&exec), Signal::SIGKILL).unwrap();
    becomes("the group is gone", || members(group).is_empty());
    exec.wait().unwrap();
}

#[test]
fn the_command_has_no_descriptors_of_ours() {
    let count = "ls /proc/self/fd | wc -l";
    let output = common::done(&mut script(&[], count));
    let mut without = std::process::Command::new("sh");
    let without = without.args(["-c", count]).output().unwrap();
    assert_eq!(text(&output.stdout), text(&without.stdout));
}
