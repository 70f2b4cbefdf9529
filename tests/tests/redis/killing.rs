//! Processes that are killed while they hold a lock.

use crate::{LEASE, SOON, client, key, server, taker, until_waiting, wait_for, within};
use lockwork_conformance::generous;
use std::time::{Duration, Instant};

const TIMES: usize = 10;

#[tokio::test]
async fn the_next_one_is_in_within_50_ms_of_the_end_of_a_killed_holders_lease() {
    let server = server();
    let here = client(server.port()).await;
    let (mut others, mut waiting) = (Vec::new(), Vec::new());
    for number in 0..TIMES {
        let name = number.to_string();
        let mut other = taker(&server).await;
        let theirs = within(SOON, "they hold it", other.lock(&name)).await;
        waiting.push((theirs, wait_for(&here, &name)));
        until_waiting(&here, &name, 1).await;
        others.push(other);
    }
    let mut ends = Vec::new();
    for (number, other) in others.into_iter().enumerate() {
        // Not all in one moment.
        tokio::time::sleep(LEASE / 15).await;
        other.kill().await;
        let asked = Instant::now();
        let rest = server.ask(&["PTTL", &key(&number.to_string())]).unwrap();
        let rest = Duration::from_millis(rest.parse().unwrap());
        // It was answered at some moment in between.
        ends.push((asked + rest, Instant::now() + rest));
    }
    let mut late = Vec::new();
    for ((theirs, waiting), (earliest, latest)) in waiting.into_iter().zip(ends) {
        let (guard, when) = within(SOON, "the next one gets in", waiting).await.unwrap();
        assert!(guard.token() > theirs);
        let early = earliest.saturating_duration_since(when);
        assert!(early < Duration::from_millis(3), "{early:?} too early");
        late.push(when.saturating_duration_since(latest));
    }
    late.sort_unstable();
    println!("after the end of the lease ({LEASE:?}): {late:?}");
    let limit = Duration::from_millis(50);
    assert!(late[TIMES - 1] < generous(limit), "too late: {late:?}");
}
