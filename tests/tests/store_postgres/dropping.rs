//! Callers that go away half way.

use crate::{SOON, node, server, support::*};
use futures_util::FutureExt;
use lockwork::runtime::store::InstanceStore;
use lockwork_conformance::{until, within};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_is_done_whole_and_the_connection_is_good() {
    const TIMES: usize = 200;
    let server = server(&[]);
    let store = node(&server).await;
    for number in 0..TIMES {
        let id = format!("i{number}");
        let mut creating = Box::pin(store.create(new(&id)));
        // Now at once, now a little later.
        for _ in 0..=number % 4 {
            assert!(
                (&mut creating)
                    .now_or_never()
                    .is_none_or(|done| done.is_ok())
            );
            tokio::task::yield_now().await;
        }
        drop(creating);
    }
    let count = || {
        server
            .sql("SELECT count(*) FROM lockwork.instance")
            .unwrap()
            .trim()
            .to_owned()
    };
    until(SOON, "all are there", || count() == TIMES.to_string()).await;
    for number in 0..TIMES {
        let id = format!("i{number}");
        let claimed = within(SOON, "a claim", store.claim(&instance(&id), "c")).await;
        let mut commit = nothing(&claimed.unwrap().unwrap());
        commit.journal.push(entry(0, "whole"));
        commit.errands.push(errand(&format!("e{number}"), &id, NOW));
        let mut committing = Box::pin(store.commit(commit));
        let _ = (&mut committing).now_or_never();
        drop(committing);
    }
    let whole = || {
        let text = "SELECT (SELECT count(*) FROM lockwork.journal) || ' ' || (SELECT count(*) FROM lockwork.errand) \
                    || ' ' || (SELECT count(*) FROM lockwork.instance WHERE version = 1)";
        server.sql(text).unwrap().trim().to_owned()
    };
    let all = format!("{TIMES} {TIMES} {TIMES}");
    until(SOON, "all are whole", || whole() == all).await;
    // Nothing is left in the middle of something.
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockwork-store/%' \
                AND state <> 'idle'";
    until(SOON, "all are idle", || {
        server.sql(open).unwrap().trim() == "0"
    })
    .await;
}
