//! Many locks on two connections.

use crate::{SOON, calls, connections, left, options, server, until, within};
use lockwork::{Guard, backend::keeper};
use std::time::{Duration, Instant};

const MANY: usize = 10_000;
const LEASE: Duration = Duration::from_secs(3);
const ROUNDS: u32 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_locks_need_two_connections_and_a_hundred_calls_to_be_renewed() {
    let server = server();
    let locks = crate::locks(options(server.port()).lease(LEASE)).await;
    let start = Instant::now();
    let asked: Vec<_> = (0..MANY)
        .map(|number| {
            let mutex = locks.mutex(number.to_string());
            tokio::spawn(async move { mutex.lock().await.unwrap() })
        })
        .collect();
    let mut guards = Vec::new();
    for one in asked {
        guards.push(within(SOON, "a lock", one).await.unwrap());
    }
    let took = start.elapsed();
    // From one renewal of all to another.
    let round = LEASE / 3;
    tokio::time::sleep(round).await;
    let (begun, before) = (Instant::now(), calls(&server));
    let mut tasks = 0;
    while begun.elapsed() < round * ROUNDS {
        tokio::time::sleep(Duration::from_millis(10)).await;
        tasks = tasks.max(keeper::tasks());
    }
    let each = (calls(&server) - before) / u64::from(ROUNDS);
    let connections = connections(&server).len();
    println!(
        "{MANY} locks in {took:?} on {connections} connections; {each} calls to renew all of them; \
         {tasks} tasks at most"
    );
    let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
    assert_eq!(lost, 0);
    assert!(connections <= 2, "{connections}");
    assert!(each <= 100, "{each}");
    // Others of this process have some too.
    assert!(tasks < MANY / 20, "{tasks}");
    let start = Instant::now();
    drop::<Vec<Guard>>(guards);
    locks.close().await;
    println!("released in {:?}", start.elapsed());
    until(SOON, "nothing is left", || left(&server).is_empty()).await;
}
