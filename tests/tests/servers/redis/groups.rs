//! Several Redis servers that belong together: a cluster, and a primary whose replica takes over.

use super::redis as start;
use crate::eventually;
use lockwork_servers::{Redis, RedisCluster, RedisSettings, Sentinel, redis};

/// Which node has the slot of the key: the others send a client to it.
fn owners(cluster: &RedisCluster, key: &str) -> usize {
    let set = |node: &&Redis| node.ask(&["SET", key, "7"]).is_ok();
    cluster.nodes().iter().filter(set).count()
}

#[test]
fn each_key_of_a_cluster_has_one_node_and_the_others_say_which() {
    let cluster = RedisCluster::start().unwrap();
    for key in ["a", "b", "c", "d"] {
        assert_eq!(owners(&cluster, key), 1);
    }
    let asked = |node: &Redis| node.ask(&["SET", "a", "7"]);
    let moved = cluster.nodes().iter().find_map(|node| asked(node).err());
    let moved = moved.unwrap().to_string();
    assert!(moved.contains("MOVED"), "{moved}");
    let known = |port: &u16| moved.ends_with(&format!(" 127.0.0.1:{port}"));
    assert!(cluster.ports().iter().any(known), "{moved}");
}

#[test]
fn a_cluster_is_whole_again_when_a_killed_node_is_back() {
    let cluster = RedisCluster::start().unwrap();
    let node = &cluster.nodes()[1];
    node.kill().unwrap();
    node.restart().unwrap();
    cluster.is_whole().unwrap();
    assert_eq!(owners(&cluster, "a"), 1);
}

#[test]
fn joining_a_cluster_that_is_one_changes_nothing() {
    let cluster = RedisCluster::start().unwrap();
    let slots = || cluster.nodes()[0].ask(&["CLUSTER", "SLOTS"]).unwrap();
    let before = slots();
    redis::join(&cluster.ports()).unwrap();
    assert_eq!(slots(), before);
}

#[test]
fn a_replica_has_what_was_written_and_writes_nothing() {
    let primary = start(RedisSettings::new().acl("user default off"));
    primary.ask(&["SET", "before", "1"]).unwrap();
    let replica = primary
        .replica(RedisSettings::new().acl("user default off"))
        .unwrap();
    assert_eq!(replica.ask(&["GET", "before"]).unwrap(), "1");
    primary.ask(&["SET", "after", "2"]).unwrap();
    replica.in_sync_with(&primary).unwrap();
    assert_eq!(replica.ask(&["GET", "after"]).unwrap(), "2");
    let refusal = replica.ask(&["SET", "no", "3"]).unwrap_err().to_string();
    assert!(refusal.contains("READONLY"), "{refusal}");
    primary.kill().unwrap();
    replica.ask(&["REPLICAOF", "NO", "ONE"]).unwrap();
    eventually("a primary", || replica.ask(&["SET", "no", "3"]).is_ok());
}

#[test]
fn a_sentinel_makes_the_replica_a_primary_when_that_is_gone() {
    let primary = start(RedisSettings::new());
    let replica = primary.replica(RedisSettings::new()).unwrap();
    let sentinel = Sentinel::start(&primary).unwrap();
    assert_eq!(sentinel.primary().unwrap(), primary.port());
    primary.kill().unwrap();
    sentinel.has_promoted(&replica).unwrap();
    assert_eq!(replica.ask(&["SET", "a", "7"]).unwrap(), "OK");
}
