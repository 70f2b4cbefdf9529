//! What is left of a server when nobody needs it any more, or when the test is killed.

use super::{eventually, server};
use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

#[test]
fn nothing_of_a_dropped_server_stays() {
    let server = server();
    let (pid, data) = (server.pid().unwrap(), server.data());
    assert!(data.is_dir());
    server.freeze().unwrap();
    drop(server);
    assert!(!data.exists());
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

/// Started as a process of its own by the test below.
#[test]
#[ignore = "waits to be killed"]
fn keeps_a_frozen_server() {
    let server = server();
    server.freeze().unwrap();
    println!(
        "\nkept {} {}",
        server.pid().unwrap(),
        server.data().display()
    );
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_server_ends_with_the_process_that_started_it_even_frozen() {
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ending::keeps_a_frozen_server"])
        .args(["--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let kept = lines.find_map(|line| Some(line.strip_prefix("kept ")?.to_owned()));
    other.kill().unwrap();
    other.wait().unwrap();
    let kept = kept.unwrap();
    let (pid, data) = kept.split_once(' ').unwrap();
    let process = PathBuf::from(format!("/proc/{pid}/cwd"));
    eventually("its end", || std::fs::read_link(&process).is_err());
    eventually("an empty place", || !PathBuf::from(data).exists());
}
