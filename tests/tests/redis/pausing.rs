//! A server that is told to answer nobody for a while.

use crate::{LEASE, SOON, client, cpu, server, taker, wait_for, within, works};
use lockwork::Instant;
use lockwork_conformance::generous;

#[tokio::test]
async fn a_pause_of_three_leases_ends_the_guard_in_time_and_costs_no_processor_time() {
    let server = server();
    let here = client(server.port()).await;
    let mut other = taker(&server).await;
    let theirs = within(SOON, "they hold it", other.lock("x")).await;
    other.watch_loss().await;
    let pause = LEASE * 3;
    let (used, millis) = (cpu(other.id().unwrap()), pause.as_millis().to_string());
    server.ask(&["CLIENT", "PAUSE", &millis, "ALL"]).unwrap();
    let paused = Instant::now();
    let waiting = wait_for(&here, "x");
    let off = within(LEASE, "the guard is off", other.off()).await;
    let late = off.saturating_duration_since(paused);
    assert!(late < generous(LEASE), "too late: {late:?}");
    tokio::time::sleep((paused + pause).remaining()).await;
    let used = cpu(other.id().unwrap()) - used;
    println!("paused for {pause:?}: off after {late:?}, {used:?} of the processor");
    assert!(used < pause / 20, "{used:?}");
    let (guard, _) = within(SOON, "the next one gets in", waiting).await.unwrap();
    assert!(guard.token() > theirs);
    guard.release().await.unwrap();
    let again = within(SOON, "they have it again", other.lock("x")).await;
    assert!(again > theirs);
    other.release().await;
    works(&here, "x").await;
}
