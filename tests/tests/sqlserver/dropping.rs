//! Waiters that are dropped at any moment, while what they wait for is released at any moment: grants
//! cross with words that they are not wanted any more.

use crate::{SOON, place::Place, within};
use lockwork::{Guard, Locks};
use rand::RngExt;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Each drops this many, one after the other, of a name of its own.
const TIMES: usize = 50;
const TASKS: usize = 20;
/// Each has four sessions that wait; whoever finds none tries again and again.
const CLIENTS: usize = 4;

fn moment(most: u64) -> Duration {
    Duration::from_micros(rand::rng().random_range(0..=most))
}

/// Whether it was granted before it was dropped.
async fn one_wait(holder: &Locks, waiter: &Locks, name: &str) -> bool {
    let guard = within(SOON, "what was dropped is free", holder.mutex(name).lock()).await;
    let guard: Guard = guard.unwrap();
    let mutex = waiter.mutex(name);
    let waiting = tokio::spawn(async move { mutex.lock().await.unwrap() });
    // Before the server hears of it, or while it waits there.
    tokio::time::sleep(moment(12_000)).await;
    let releasing = async {
        tokio::time::sleep(moment(3_000)).await;
        guard.release().await.unwrap();
    };
    let dropping = async {
        // Sometimes so late that it was granted before, also where the machine is slow.
        tokio::time::sleep(moment(20_000)).await;
        waiting.abort();
        waiting.await
    };
    let ((), dropped) = tokio::join!(releasing, dropping);
    dropped.is_ok()
}

async fn drop_all(place: &Place) -> usize {
    let holder = place.client().await;
    let mut tasks = JoinSet::new();
    for client in 0..CLIENTS {
        let waiter = place.client().await;
        for task in 0..TASKS / CLIENTS {
            let (holder, waiter) = (holder.clone(), waiter.clone());
            tasks.spawn(async move {
                let name = format!("{client}-{task}");
                let mut granted = 0;
                for _ in 0..TIMES {
                    granted += usize::from(one_wait(&holder, &waiter, &name).await);
                }
                let free = holder.mutex(&name).try_lock().await.unwrap();
                let waited = Duration::from_secs(5);
                let free = match free {
                    Some(guard) => Some(guard),
                    // The last one may be on its way back.
                    None => holder.mutex(&name).try_lock_for(waited).await.unwrap(),
                };
                free.expect("nobody has it").release().await.unwrap();
                granted
            });
        }
    }
    let done = within(Duration::from_secs(60), "all are dropped", tasks.join_all()).await;
    done.into_iter().sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiters_dropped_mid_wait_leave_no_lock_and_no_place_in_the_line() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let granted = drop_all(&place).await;
    guest.until_nothing_is_left().await;
    let all = TASKS * TIMES;
    println!(
        "{all} waiters, {} dropped mid-wait: nothing is left",
        all - granted
    );
    assert!(granted > 0 && granted < all, "{granted}");
}

/// It has no list of locks, so each name is tried for. It does not hear that a wait is called off, but
/// here each ends soon, because what it waits for is released.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiters_dropped_at_a_server_that_is_deaf_to_that_leave_nothing_either() {
    let place = Place::babelfish();
    let granted = drop_all(&place).await;
    let all = TASKS * TIMES;
    println!(
        "{all} waiters, {} dropped mid-wait: every name is free",
        all - granted
    );
    assert!(granted > 0 && granted < all, "{granted}");
}

/// The wait goes on at the server, which does not hear that it is called off, for two seconds at most.
/// Whoever closes its locks waits for that.
#[tokio::test]
async fn a_wait_that_cannot_be_called_off_is_over_after_two_seconds() {
    let place = Place::babelfish();
    let (here, there) = (place.client().await, place.client().await);
    let guard = here.mutex("x").lock().await.unwrap();
    let mutex = there.mutex("x");
    let waiting = tokio::time::timeout(Duration::from_millis(200), mutex.lock());
    assert!(waiting.await.is_err());
    let start = Instant::now();
    let limit = Duration::from_millis(2500);
    within(limit, "the wait is over", there.close()).await;
    println!(
        "a wait that could not be called off ended after {:?}",
        start.elapsed()
    );
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    let next = within(SOON, "it is free", here.mutex("x").lock()).await;
    next.unwrap().release().await.unwrap();
}
