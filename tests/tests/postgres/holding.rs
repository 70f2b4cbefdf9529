//! Many locks on few connections.

use crate::{SOON, locks, options, server, within};
use std::time::Instant;

const MANY: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_locks_need_twelve_connections_and_no_task_each() {
    let server = server(&[("max_locks_per_transaction", "256")]);
    let backend = options(&server.url()).connect().await.unwrap();
    let locks = locks(backend.clone());
    let tasks = lockwork::backend::keeper::tasks();
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
    let connections = crate::sessions(&server);
    let tasks = lockwork::backend::keeper::tasks() - tasks;
    // How long it may take is a bar of the bench, whose build is optimised.
    println!("{MANY} locks in {took:?} on {connections} connections, {tasks} tasks more");
    assert!(guards.iter().all(lockwork::Guard::is_valid));
    assert!(connections <= 12, "{connections}");
    assert!(tasks <= 20, "{tasks}");
    assert_eq!(backend.connections(), connections);
    let start = Instant::now();
    drop(guards);
    locks.close().await;
    println!("released in {:?}", start.elapsed());
    assert_eq!(crate::advisory_locks(&server), 0);
}
