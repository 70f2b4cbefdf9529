//! Locks that keep no other node out, or nobody at all.

use crate::{
    place::{Place, options},
    support::{fresh_store, kind, soon},
};
use lockwork::{
    Locks, Memory, Scope,
    distributed::{Distributed, DistributedOptions},
    layers::{Prefix, Retry, Trace},
    runtime::RuntimeBuilder,
    workflow::ErrorKind,
};

#[tokio::test]
async fn locks_of_one_process_are_refused_with_what_to_do() {
    let (store, _kept) = fresh_store().await;
    let locks = Locks::new(Memory::new());
    let refused = RuntimeBuilder::new(store).distributed(locks, DistributedOptions::default());
    let error = refused.expect_err("it should have been refused");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let text = error.to_string();
    for words in [
        "allow_local_locks",
        "PostgreSQL",
        "memory",
        "tasks of this process",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn locks_of_one_machine_are_refused_too() {
    let (store, _kept) = fresh_store().await;
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file:{}", directory.path().display());
    let locks = lockwork::connect(&url).await.unwrap();
    assert_eq!(locks.info().scope, Scope::Host);
    let builder = RuntimeBuilder::new(store);
    let refused = builder.distributed(locks, DistributedOptions::default());
    assert_eq!(kind(refused), ErrorKind::Invalid);
}

#[tokio::test]
async fn layers_cannot_hide_how_far_locks_reach() {
    let (store, _kept) = fresh_store().await;
    let locks = Locks::new(Memory::new())
        .layer(Retry::new())
        .layer(Prefix::new("cluster/").unwrap())
        .layer(Trace::new());
    let refused = RuntimeBuilder::new(store).distributed(locks, DistributedOptions::default());
    assert_eq!(kind(refused), ErrorKind::Invalid);
}

#[tokio::test]
async fn local_locks_will_do_if_that_is_said() {
    let (store, _kept) = fresh_store().await;
    let locks = Locks::new(Memory::new());
    assert!(
        RuntimeBuilder::new(store)
            .distributed(locks, options())
            .is_ok()
    );
}

#[tokio::test]
async fn a_node_whose_two_connections_lead_to_different_servers_does_not_start() {
    let (store, _kept) = fresh_store().await;
    let mut options = options();
    options.witness = Some(Place::new().locks());
    let runtime = RuntimeBuilder::new(store).distributed(Place::new().locks(), options);
    let started = soon(runtime.unwrap().start()).await;
    assert_eq!(kind(started), ErrorKind::Denied);
}

#[tokio::test]
async fn a_node_whose_two_connections_keep_each_other_out_starts() {
    let ((store, _kept), place) = (fresh_store().await, Place::new());
    let mut options = options();
    options.witness = Some(place.locks());
    let runtime = RuntimeBuilder::new(store).distributed(place.locks(), options);
    let runtime = runtime.unwrap();
    soon(runtime.start()).await.unwrap();
    let tested = |names: Vec<String>| {
        names
            .iter()
            .any(|name| name.starts_with("lockwork-self-test:"))
    };
    assert!(tested(place.names()));
    soon(runtime.drain()).await;
}
