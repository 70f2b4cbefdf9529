//! The server's clock is set while locks are held.
//!
//! Forward, leases end early by as much: their holders learn of it at the next renewal. Back, a lease
//! that nobody renews ends late by as much. Tokens rise either way.

use crate::{
    LEASE, SOON, client, ends, taker, until_renewed, until_waiting, wait_for, within, works,
};
use lockwork::{Instant, Loss};
use lockwork_conformance::generous;
use lockwork_servers::{Clock, Redis, RedisSettings};
use std::time::Duration;

/// A server with such a clock, where there can be one.
fn server() -> Option<(Clock, Redis)> {
    let clock = match Clock::new() {
        Ok(clock) => clock,
        Err(problem) => {
            eprintln!("left out: {problem}");
            return None;
        }
    };
    let server = Redis::start(RedisSettings::new().clock(&clock)).unwrap();
    Some((clock, server))
}

#[tokio::test]
async fn a_clock_set_forward_ends_leases_at_once_and_their_holders_are_told() {
    let Some((clock, server)) = server() else {
        return;
    };
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let guard = here.mutex("x").lock().await.unwrap();
    let write = here.rw_lock("x").write().await.unwrap();
    let permit = here.semaphore("x", 1).acquire().await.unwrap();
    let turned = Instant::now();
    clock.turn(60).unwrap();
    let next = there.mutex("x").try_lock().await.unwrap();
    let next = next.expect("the lease is over");
    assert!(next.token() > guard.token());
    for lost in [guard.lost(), write.lost(), permit.lost()] {
        let loss = within(LEASE / 2, "the loss is told", lost).await;
        assert_eq!(loss, Loss::Taken);
    }
    println!("60 s forward: told after {:?}", turned.elapsed());
    next.release().await.unwrap();
    works(&here, "x").await;
}

#[tokio::test]
async fn a_clock_set_back_ends_no_lease_early_and_tokens_rise() {
    let Some((clock, server)) = server() else {
        return;
    };
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let guards = [
        here.mutex("x").lock().await.unwrap(),
        here.rw_lock("x").write().await.unwrap(),
    ];
    let tokens = [guards[0].token(), guards[1].token()];
    clock.turn(-60).unwrap();
    until_renewed(LEASE, &guards, &ends(&guards)).await;
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
    assert!(there.rw_lock("x").try_read().await.unwrap().is_none());
    for guard in guards {
        guard.release().await.unwrap();
    }
    let next = within(LEASE, "a lock", there.mutex("x").lock()).await;
    assert!(next.unwrap().token() > tokens[0]);
    let next = within(LEASE, "a lock", there.rw_lock("x").write()).await;
    assert!(next.unwrap().token() > tokens[1]);
}

#[tokio::test]
async fn a_takeover_is_late_by_as_much_as_the_clock_was_set_back() {
    let Some((clock, server)) = server() else {
        return;
    };
    let here = client(server.port()).await;
    let mut other = taker(&server).await;
    let theirs = within(SOON, "they hold it", other.lock("x")).await;
    let waiting = wait_for(&here, "x");
    until_waiting(&here, "x", 1).await;
    let killed = Instant::now();
    other.kill().await;
    let back = Duration::from_secs(2);
    clock.turn(-2).unwrap();
    let (guard, _) = within(SOON, "the next one gets in", waiting).await.unwrap();
    let took = killed.elapsed();
    println!("{back:?} back: the next one in after {took:?} (lease {LEASE:?})");
    assert!(guard.token() > theirs);
    let limit = back + LEASE + Duration::from_millis(100);
    assert!(took < generous(limit), "too late: {took:?}");
}
