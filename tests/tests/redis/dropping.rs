//! Futures dropped half way, twenty thousand of them.

use crate::{SOON, TOKENS, client, contender::Contender, keys, left, server, until, works};
use std::time::Duration;

const DROPS: usize = 20_000;

#[tokio::test]
async fn twenty_thousand_dropped_acquires_leave_no_lock_and_no_waiter() {
    let server = server();
    let here = client(server.port()).await;
    // Some of the names are somebody else's, so that there is waiting as well.
    let mut ours = Vec::new();
    for number in 0..10 {
        ours.push(here.mutex(number.to_string()).lock().await.unwrap());
        ours.push(here.rw_lock(number.to_string()).read().await.unwrap());
    }
    // A process of its own, so that it keeps nobody else's thread busy.
    let url = format!("{}?tenure=0s&lease={}s", server.url(), 2 * SOON.as_secs());
    let mut dropper = Contender::new(&url, "drop", "", DROPS);
    dropper.go();
    let dropper = tokio::task::spawn_blocking(move || (dropper.line(), dropper));
    let (done, _dropper) = dropper.await.unwrap();
    let done: usize = done.unwrap().parse().unwrap();
    drop(ours);
    let limit = Duration::from_secs(2);
    until(limit, "nothing is left", || left(&server).is_empty()).await;
    println!(
        "{DROPS} acquires, {} of them dropped half way: {} last tokens are left",
        DROPS - done,
        keys(&server).len()
    );
    let tokens_alone = |key: &String| key.ends_with("}:t") || key == TOKENS;
    assert!(keys(&server).iter().all(tokens_alone));
    assert!(done > DROPS / 1000 && done < DROPS, "{done}");
    works(&here, "x").await;
}
