//! What waiting costs: the server, and the process that waits.

use crate::{
    SOON, calls, contender::Contender, cpu, options, server, until_waiting, within, works,
};
use std::time::{Duration, Instant};

const TASKS: usize = 1000;
const LOOK: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_tasks_that_wait_for_one_name_are_one_waiter_and_two_calls_a_second() {
    let server = server();
    let here = crate::locks(options(server.port()).lease(SOON * 3)).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let mut crowd = Contender::new(&server.url(), "crowd", "x", TASKS);
    crowd.go();
    assert_eq!(crowd.line().as_deref(), Some("crowded"));
    until_waiting(&here, "x", 1).await;
    let (begun, before, used) = (Instant::now(), calls(&server), cpu(crowd.id()));
    tokio::time::sleep(LOOK).await;
    let rate = (calls(&server) - before) as f64 / begun.elapsed().as_secs_f64();
    let used = cpu(crowd.id()) - used;
    println!(
        "{TASKS} tasks that wait for {LOOK:?}: {rate:.1} calls a second, {used:?} of the processor"
    );
    assert!(rate <= 2.0, "{rate}");
    assert!(used < LOOK / 20, "{used:?}");
    let waiting = here.mutex("x").holders().await.unwrap().waiting;
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    guard.release().await.unwrap();
    let rest = tokio::task::spawn_blocking(move || crowd.rest());
    let rest = within(SOON, "everybody was in", rest).await.unwrap();
    assert!(rest.is_empty(), "{rest:?}");
    works(&here, "x").await;
}
