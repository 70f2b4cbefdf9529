//! Processes that are killed while they hold a lock.

use crate::{LEASE, SOON, client, key, server, taker, until_waiting, wait_for, within};
use lockwork_conformance::generous;
use lockwork_servers::Redis;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const TIMES: usize = 10;

/// For how long somebody has this lock for which others wait: the record of that says when the lease ends.
fn rest_of(server: &Redis, key: &str) -> Duration {
    let record = server.ask(&["GET", key]).unwrap();
    let end = record.strip_prefix('+').unwrap().split(' ').next().unwrap();
    let end = UNIX_EPOCH + Duration::from_millis(end.parse().unwrap());
    end.duration_since(SystemTime::now()).unwrap()
}

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
        let rest = rest_of(&server, &key(&number.to_string()));
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
