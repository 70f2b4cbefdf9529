//! The schema is made once, by whoever comes first.

use crate::{SOON, server, support::*};
use lockwork::runtime::store::InstanceStore;
use lockwork::store::postgres::PostgresStore;
use lockwork_conformance::within;

#[tokio::test(flavor = "multi_thread")]
async fn many_nodes_that_start_at_once_make_one_schema() {
    let server = server(&[]);
    let nodes = (0..16).map(|_| {
        let url = format!("{}?pool=1", server.url());
        tokio::spawn(async move { PostgresStore::connect(&url).await })
    });
    let nodes: Vec<_> = nodes.collect();
    for (number, node) in nodes.into_iter().enumerate() {
        let store = within(SOON, "a node is up", node).await.unwrap().unwrap();
        store.create(new(&format!("i{number}"))).await.unwrap();
    }
    let made = server
        .sql("SELECT count(*), min(number) FROM lockwork.store_format")
        .unwrap();
    assert_eq!(made.trim(), "1|4");
    assert_eq!(
        server
            .sql("SELECT count(*) FROM lockwork.instance")
            .unwrap()
            .trim(),
        "16"
    );
}

#[tokio::test]
async fn schemas_in_one_database_do_not_know_each_other() {
    let server = server(&[]);
    for schema in ["one", "Some%20Other"] {
        let url = format!("{}?schema={schema}", server.url());
        let store = PostgresStore::connect(&url).await.unwrap();
        assert_eq!(kind_of(store.create(new("a")).await.unwrap()), "New(None)");
    }
}

fn kind_of(creation: impl std::fmt::Debug) -> String {
    format!("{creation:?}")
}

/// What is written down is found again under a name that the server makes and one that we do.
#[tokio::test]
async fn a_name_that_is_too_long_is_shortened_alike_on_both_sides() {
    let server = server(&[]);
    let store = crate::node(&server).await;
    drop(store);
    let long = "ä".repeat(3000);
    let text = format!("SELECT lockwork.store_name_v1('{long}')");
    let theirs = server.sql(&text).unwrap();
    let hash = lockwork::workflow::StimulusHash::of("id", &long.into(), None).unwrap();
    assert_eq!(theirs.trim(), format!("long/{hash}"));
}
