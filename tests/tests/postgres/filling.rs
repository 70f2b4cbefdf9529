//! A server without room.

use crate::{SOON, advisory_locks, client, locks, options, server, until, within};
use lockwork::{ErrorKind, Guard, Locks, Result};

async fn take_many(locks: &Locks, count: usize) -> Vec<Result<Guard>> {
    let mut taken = Vec::new();
    let asked: Vec<_> = (0..count)
        .map(|number| {
            let mutex = locks.mutex(format!("many-{number}"));
            tokio::spawn(async move { mutex.lock().await })
        })
        .collect();
    for one in asked {
        taken.push(within(SOON, "an answer", one).await.unwrap());
    }
    taken
}

/// The smallest table there can be: about 10 × (10 + some) and what is spare.
const SMALL: [(&str, &str); 2] = [
    ("max_connections", "10"),
    ("max_locks_per_transaction", "10"),
];

#[tokio::test]
async fn a_full_table_refuses_and_forgets_what_it_had_granted_half_way() {
    let server = server(&SMALL);
    let all = options(&server.url()).quota(usize::MAX);
    let locks = locks(all.connect().await.unwrap());
    let first = locks.mutex("first").lock().await.unwrap();
    let mut kept = Vec::new();
    let mut refused = 0;
    // Until it is full, and on.
    for round in 0..20 {
        for taken in take_many(&locks, 1000).await {
            match taken {
                Ok(guard) => kept.push(guard),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                    refused += 1;
                }
            }
        }
        let held = advisory_locks_or_none(&server);
        println!(
            "round {round}: {} kept, {refused} refused, {held:?} at the server",
            kept.len()
        );
        if refused > 0 {
            break;
        }
        kept.clear();
    }
    assert!(refused > 0, "the table is never full");
    assert!(first.is_valid(), "what was there before stays");
    kept.clear();
    // While the first is held its session stays, and so would what was left on it.
    until(SOON, "only the first is left", || {
        advisory_locks_or_none(&server) == Some(1)
    })
    .await;
    first.release().await.unwrap();
    until(SOON, "nothing is left", || {
        advisory_locks_or_none(&server) == Some(0)
    })
    .await;
    drop(
        within(SOON, "there is room again", locks.mutex("x").lock())
            .await
            .unwrap(),
    );
}

/// With a full table nobody can connect to look.
fn advisory_locks_or_none(server: &lockwork_servers::Postgres) -> Option<usize> {
    let text = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1";
    server.sql(text).ok()?.trim().parse().ok()
}

#[tokio::test]
async fn the_quota_is_half_of_the_servers_table_and_leaves_room_for_others() {
    let server = server(&SMALL);
    let locks = client(&server.url()).await;
    let taken = take_many(&locks, 100).await;
    let granted = taken.iter().filter(|taken| taken.is_ok()).count();
    assert_eq!(granted, 50);
    let error = taken.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("quota=50"), "{error}");
    // Others still come in.
    assert_eq!(server.sql("SELECT 1").unwrap().trim(), "1");
    until(SOON, "the rest is gone", || advisory_locks(&server) == 0).await;
    drop(locks.mutex("x").lock().await.unwrap());
}
