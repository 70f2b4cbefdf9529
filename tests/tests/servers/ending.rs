//! What is left of a server when nobody needs it any more, or when the test is killed.

use super::{eventually, server};
use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
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

#[test]
fn a_server_ends_with_the_process_that_started_it_even_frozen() {
    ends_with_its_keeper("postgres");
}

#[test]
fn a_redis_ends_with_the_process_that_started_it_even_frozen() {
    ends_with_its_keeper("redis");
}

#[test]
fn an_azurite_ends_with_the_process_that_started_it_even_frozen() {
    ends_with_its_keeper("azurite");
}

fn ends_with_its_keeper(server: &str) {
    let mut other = Command::new(env!("CARGO_BIN_EXE_server-keeper"))
        .arg(server)
        .stdin(Stdio::piped())
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
