//! What waiting costs the server.

use crate::{SOON, advisory_locks, client, server, through, until, within};
use lockwork_conformance::Proxy;
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
        held.push(here.mutex(&number.to_string()).lock().await.unwrap());
    }
    let waiting: Vec<_> = (0..NAMES)
        .map(|number| {
            let mutex = there.mutex(&number.to_string());
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
    let start = Instant::now();
    drop(here.mutex("another").lock().await.unwrap());
    drop(there.mutex("yet another").lock().await.unwrap());
    println!("two other locks meanwhile: {:?}", start.elapsed());
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
