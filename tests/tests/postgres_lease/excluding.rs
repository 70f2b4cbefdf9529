//! Processes that contend, directly and through a pooler in transaction mode, beside one that
//! collects: each wrote down when it was in.

use crate::{
    ROWS,
    contender::{Contender, contend},
    database_through,
    stays::{Stay, most_at_once, overlaps, tokens_rise},
};
use lockwork_conformance::Harness;

fn contend_beside_a_collector(variable: &str, kind: &str, count: usize) -> Vec<Stay> {
    let database = database_through(variable);
    let url = database.url().expect("others can reach it");
    let mut collector = Contender::new(&url, "collect", "", 1);
    collector.go();
    let stays = contend(3, &url, kind, "x", count);
    collector.kill();
    assert_eq!(database.number(ROWS), 0, "rows were left behind");
    stays
}

fn is_kept(variable: &str) {
    let stays = contend_beside_a_collector(variable, "mutex", 60);
    assert_eq!(stays.len(), 180);
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
    let stays = contend_beside_a_collector(variable, "rw", 40);
    assert!(stays.len() >= 120, "{}", stays.len());
    assert_eq!(overlaps(&stays).first().map(|two| format!("{two:?}")), None);
    tokens_rise(&stays);
    let stays = contend_beside_a_collector(variable, "semaphore", 60);
    assert_eq!(stays.len(), 180);
    assert!(most_at_once(&stays) <= 3, "{}", most_at_once(&stays));
}

#[test]
fn processes_exclude_each_other() {
    is_kept("LOCKWORK_POSTGRES_URL");
}

#[test]
fn processes_exclude_each_other_through_a_pooler() {
    is_kept("LOCKWORK_PGBOUNCER_URL");
}
