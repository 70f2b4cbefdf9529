//! Connections that an operator ends while locks are held and waited for.

use crate::{
    LEASE, SOON, client, ends, server, until, until_renewed, until_waiting, wait_for, within,
};
use lockwork::Guard;
use lockwork_servers::Redis;
use std::time::{Duration, Instant};

fn kill_all(server: &Redis) {
    for kind in ["normal", "pubsub"] {
        let kill = ["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"];
        server.ask(&kill).unwrap();
    }
}

/// How many of our connections have run the script, and nothing after it.
fn have_asked(server: &Redis) -> usize {
    let list = server.ask(&["CLIENT", "LIST"]).unwrap();
    let ours = list.lines().filter(|line| line.contains(" name=lockwork/"));
    ours.filter(|line| line.contains(" cmd=evalsha ")).count()
}

#[tokio::test]
async fn connections_that_the_server_ends_cost_no_lock_and_no_waiter_its_turn() {
    let server = server();
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let mut guards = Vec::new();
    for number in 0..20 {
        let name = number.to_string();
        guards.push(here.mutex(&name).lock().await.unwrap());
        guards.push(here.rw_lock(&name).write().await.unwrap());
        guards.push(here.semaphore(&name, 3).acquire().await.unwrap());
    }
    let waiting = wait_for(&there, "7");
    until_waiting(&here, "7", 1).await;
    for _ in 0..5 {
        kill_all(&server);
        until_renewed(LEASE, &guards, &ends(&guards)).await;
        // Who waits asks once more as soon as it can be told again; who holds renews.
        until(SOON, "both have asked again", || have_asked(&server) == 2).await;
    }
    assert!(guards.iter().all(Guard::is_valid));
    assert!(!waiting.is_finished(), "two hold the lock");
    let released = Instant::now();
    for guard in guards {
        guard.release().await.unwrap();
    }
    let (next, when) = within(SOON, "the waiter gets in", waiting).await.unwrap();
    let after = when - released;
    println!("the waiter was in {after:?} after");
    assert!(after < Duration::from_secs(1), "too late: {after:?}");
    next.release().await.unwrap();
}

#[tokio::test]
async fn who_waits_is_told_by_the_connection_that_came_after() {
    let server = server();
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        let guard = here.mutex("x").lock().await.unwrap();
        let waiting = wait_for(&there, "x");
        until_waiting(&here, "x", 1).await;
        kill_all(&server);
        let listeners = || {
            let channels = server.ask(&["PUBSUB", "CHANNELS"]).unwrap();
            channels.lines().count()
        };
        // Each by both of its connections.
        until(SOON, "both listen again", || listeners() == 4).await;
        let released = Instant::now();
        guard.release().await.unwrap();
        let (next, when) = within(SOON, "the waiter gets in", waiting).await.unwrap();
        slowest = slowest.max(when - released);
        next.release().await.unwrap();
    }
    println!("told on a new connection: the slowest after {slowest:?}");
    // Who is not told asks 900 ms later.
    assert!(
        slowest < Duration::from_millis(400),
        "too late: {slowest:?}"
    );
}
