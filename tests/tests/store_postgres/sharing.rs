//! Operations that share a statement, and one that is held up.

use crate::{SOON, node, server, support::*};
use lockwork::runtime::store::InstanceStore;
use lockwork_conformance::{until, within};
use sqlx::{Connection, Executor, PgConnection};
use std::{sync::Arc, time::Duration};

/// Far longer than the others wait for it, and far shorter than it is held up.
const MOMENT: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_held_up_keeps_the_others_for_a_moment_only() {
    let server = server(&[]);
    let store = Arc::new(node(&server).await);
    for id in ["a", "b", "c"] {
        store.create(new(id)).await.unwrap();
    }
    let mut stranger = PgConnection::connect(&server.url()).await.unwrap();
    stranger.execute("BEGIN").await.unwrap();
    stranger
        .execute("UPDATE lockwork.instance SET epoch = epoch WHERE id = 'a'")
        .await
        .unwrap();
    let held_up = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.claim(&instance("a"), "held up").await }
    });
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    until(SOON, "it waits at the server", || {
        server.sql(waits).unwrap().trim() == "1"
    })
    .await;
    let (b, c) = (instance("b"), instance("c"));
    let others = async { tokio::join!(store.claim(&b, "b"), store.claim(&c, "c")) };
    let (b, c) = within(MOMENT, "the others are claimed", others).await;
    assert!(b.unwrap().is_some() && c.unwrap().is_some());
    assert!(!held_up.is_finished());
    stranger.execute("ROLLBACK").await.unwrap();
    let claimed = within(SOON, "it is claimed after all", held_up).await;
    assert_eq!(claimed.unwrap().unwrap().unwrap().claim.epoch, 1);
}
