//! Processes that contend: each wrote down when it was in.

use crate::{
    contender::contend,
    server,
    stays::{most_at_once, overlaps, tokens_rise},
};

const PROCESSES: usize = 8;

#[test]
fn no_two_processes_are_in_at_once() {
    let server = server(&[]);
    let url = server.url();
    let stays = contend(PROCESSES, &url, "mutex", "x", 250);
    assert_eq!(stays.len(), PROCESSES * 250);
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
    println!("{} stays of {PROCESSES} processes: no overlap", stays.len());
}

#[test]
fn readers_and_writers_of_several_processes_keep_apart() {
    let server = server(&[]);
    let stays = contend(4, &server.url(), "rw", "x", 100);
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
}

#[test]
fn no_more_are_in_than_there_are_permits() {
    let server = server(&[]);
    let stays = contend(6, &server.url(), "semaphore", "x", 100);
    let most = most_at_once(&stays);
    assert!(most <= 3, "{most}");
}
