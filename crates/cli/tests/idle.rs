//! What `lockwork dev` costs while nobody wants anything of it.

#![cfg(target_os = "linux")]

mod common;

use common::node::Node;
use nix::unistd::Pid;
use std::{fs, thread, time::Duration};

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// As much of the memory as it may have, in KiB. A program that is not built to be small and quick: one that is has less.
const MEMORY: u64 = 40 * 1024;

/// As much of a core as it may use, in hundredths.
const SHARE: f64 = 1.0;

/// The memory of a process that is in use, in KiB: `VmRSS` of `proc_pid_status(5)`.
fn memory(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.expect("it runs").parse().expect("a number")
}

/// How long it has had a core, in hundredths of a second: the 14th and 15th of `proc_pid_stat(5)`, of which the first two
/// end with the last bracket.
fn worked(pid: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, rest) = stat.rsplit_once(')').expect("a name in brackets");
    let fields = rest.split_whitespace().skip(11).take(2);
    fields
        .map(|field| field.parse::<u64>().expect("a number"))
        .sum()
}

#[test]
fn a_node_that_has_nothing_to_do_takes_little_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::dev(dir.path(), &["--samples"]);
    let before = worked(node.pid());
    // Time itself is what is measured.
    thread::sleep(WATCHED);
    let (memory, worked) = (memory(node.pid()), worked(node.pid()) - before);
    let share = f64::from(u32::try_from(worked).unwrap()) / WATCHED.as_secs_f64();
    println!(
        "ready after {:?}; idle for {WATCHED:?}: {} MiB in use, {share:.1} % of a core",
        node.took,
        memory / 1024
    );
    assert!(memory <= MEMORY, "{memory} KiB of {MEMORY}");
    assert!(share <= SHARE, "{share:.1} % of a core, of {SHARE:.1}");
}
