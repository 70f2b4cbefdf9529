//! Processes that contend while another removes idle files, each under its own lock.

use crate::{
    contender::{Contender, contend},
    directory::Directory,
    stays::{Stay, most_at_once, overlaps, tokens_rise},
};

/// So often at most until something is removed while they contend: what is never idle is never removed.
const ROUNDS: usize = 20;

/// Lets `number` contend `count` times each beside one that collects; their stays.
fn contend_beside_a_collector(number: usize, kind: &str, count: usize) -> Vec<Stay> {
    (0..ROUNDS)
        .find_map(|_| one_round(number, kind, count))
        .expect("nothing was removed: this proves nothing")
}

/// Their stays, if anything was removed meanwhile.
fn one_round(number: usize, kind: &str, count: usize) -> Option<Vec<Stay>> {
    let directory = Directory::in_memory();
    let mut collector = Contender::new(&directory.url(), "collect", "", 1);
    collector.go();
    let stays = contend(number, &directory.url(), kind, "x", count);
    let rounds = collector.kill();
    let removed: usize = rounds
        .iter()
        .map(|line| line.parse::<usize>().unwrap())
        .sum();
    println!("{} stays, {removed} files removed", stays.len());
    (removed > 0).then_some(stays)
}

#[test]
fn a_mutex_excludes_while_idle_files_are_removed() {
    let stays = contend_beside_a_collector(8, "mutex", 2000);
    assert_eq!(stays.len(), 16_000);
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
}

#[test]
fn writers_exclude_everybody_and_readers_do_not_while_idle_files_are_removed() {
    let stays = contend_beside_a_collector(6, "rw", 300);
    assert!(stays.len() >= 1800, "{}", stays.len());
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
    assert!(most_at_once(&stays) > 1, "readers were never in together");
}

#[test]
fn a_semaphore_of_three_admits_three_while_idle_files_are_removed() {
    let stays = contend_beside_a_collector(6, "semaphore", 200);
    assert_eq!((stays.len(), most_at_once(&stays)), (1200, 3));
}
