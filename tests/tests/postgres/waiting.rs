//! What waiting costs the server.

use crate::{SOON, advisory_locks, client, server, somebody_waits, through, until, within};
use lockwork_conformance::{Proxy, generous};
use std::time::{Duration, Instant};

const NAMES: usize = 1000;
const LOOK: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiting_names_cost_eight_statements_a_second() {
    let server = server(&[("max_locks_per_transaction", "256")]);
    let proxy = Proxy::start(server.port()).await.unwrap();
    let (here, there) = (
        client(&server.url()).await,
        client(&through(&server, &proxy)).await,
    );
    let mut held = Vec::new();
    for number in 0..NAMES {
        held.push(here.mutex(number.to_string()).lock().await.unwrap());
    }
    let waiting: Vec<_> = (0..NAMES)
        .map(|number| {
            let mutex = there.mutex(number.to_string());
            tokio::spawn(async move { drop(mutex.lock().await.unwrap()) })
        })
        .collect();
    until(SOON, "all of them wait", || {
        advisory_locks(&server) == 2 * NAMES
    })
    .await;
    let (before, start) = (proxy.statements(), Instant::now());
    tokio::time::sleep(LOOK).await;
    let rate = (proxy.statements() - before) as f64 / start.elapsed().as_secs_f64();
    println!("{NAMES} waiting names: {rate:.1} statements a second");
    assert!(rate <= 8.0, "{rate}");
    // A thousand are on its connection; there is one more from the first lock beyond that.
    drop(there.mutex("another").lock().await.unwrap());
    let start = Instant::now();
    for _ in 0..20 {
        let guard = there.mutex("another").lock().await.unwrap();
        guard.release().await.unwrap();
    }
    let each = start.elapsed() / 20;
    println!("another lock meanwhile, taken and released: {each:?}");
    assert!(
        each < generous(Duration::from_millis(20)),
        "too late: {each:?}"
    );
    drop(held);
    for one in waiting {
        within(SOON, "everybody gets in", one).await.unwrap();
    }
    until(SOON, "nothing is left", || advisory_locks(&server) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_tasks_that_wait_for_one_name_are_one_waiter_at_the_server() {
    let server = server(&[]);
    let (here, there) = (client(&server.url()).await, client(&server.url()).await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting: Vec<_> = (0..NAMES)
        .map(|_| {
            let mutex = there.mutex("x");
            tokio::spawn(async move { drop(mutex.lock().await.unwrap()) })
        })
        .collect();
    until(SOON, "one waits", || advisory_locks(&server) == 2).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(advisory_locks(&server), 2, "the lock and one who waits");
    guard.release().await.unwrap();
    for one in waiting {
        within(SOON, "everybody gets in", one).await.unwrap();
    }
}

const UNTOLD: usize = 20;

#[tokio::test]
async fn who_is_never_told_gets_in_within_400_ms() {
    let server = server(&[]);
    let proxy = Proxy::start(server.port()).await.unwrap();
    proxy.drop_notifications();
    let (here, there) = (
        client(&server.url()).await,
        client(&through(&server, &proxy)).await,
    );
    let (mut slowest, limit) = (Duration::ZERO, Duration::from_millis(400));
    for _ in 0..UNTOLD {
        let guard = here.mutex("x").lock().await.unwrap();
        let waiting = tokio::spawn({
            let mutex = there.mutex("x");
            async move { mutex.lock().await.unwrap() }
        });
        until(SOON, "it waits", || somebody_waits(&server)).await;
        let start = Instant::now();
        guard.release().await.unwrap();
        let next = within(limit, "the next one gets in", waiting).await;
        slowest = slowest.max(start.elapsed());
        next.unwrap().release().await.unwrap();
    }
    println!("without a notification: {UNTOLD} of {UNTOLD} in, the slowest after {slowest:?}");
}

#[tokio::test]
async fn who_is_told_does_not_wait_for_the_next_look() {
    let server = server(&[]);
    let (here, there) = (client(&server.url()).await, client(&server.url()).await);
    let mut taken = Vec::new();
    for _ in 0..UNTOLD {
        let guard = here.mutex("x").lock().await.unwrap();
        let waiting = tokio::spawn({
            let mutex = there.mutex("x");
            async move { mutex.lock().await.unwrap() }
        });
        until(SOON, "it waits", || somebody_waits(&server)).await;
        let start = Instant::now();
        guard.release().await.unwrap();
        let next = within(SOON, "the next one gets in", waiting).await;
        taken.push(start.elapsed());
        next.unwrap().release().await.unwrap();
    }
    taken.sort_unstable();
    println!("with a notification: {:?} at p50", taken[UNTOLD / 2]);
    // The next look is 75 ms away on average.
    assert!(
        taken[UNTOLD / 2] < Duration::from_millis(40),
        "too late: {taken:?}"
    );
}
