//! The server's own line.

use crate::{SOON, place::Place, wait_for, within};
use std::time::Duration;
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

const CLIENTS: usize = 10;

#[tokio::test]
async fn ten_clients_that_wait_are_served_in_the_order_in_which_they_came() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let here = place.client().await;
    let guard = here.mutex("x").lock().await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..CLIENTS {
        let (client, order) = (place.client().await, order.clone());
        waiting.push(tokio::spawn(async move {
            let guard = client.mutex("x").lock().await.unwrap();
            order.lock().unwrap().push(number);
            guard.release().await.unwrap();
        }));
        guest
            .until_waiting(i32::try_from(number).unwrap() + 1)
            .await;
    }
    guard.release().await.unwrap();
    for one in waiting {
        within(SOON, "everybody gets in", one).await.unwrap();
    }
    let order = order.lock().unwrap();
    assert!(order.iter().copied().eq(0..CLIENTS), "{order:?}");
}

const TIMES: usize = 31;

#[tokio::test]
async fn a_lock_is_handed_over_without_anybody_asking_again() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let clients = [place.client().await, place.client().await];
    let mut guard = clients[0].mutex("x").lock().await.unwrap();
    let mut taken = Vec::new();
    for turn in 1..=TIMES {
        let waiting = wait_for(&clients[turn % 2], "x");
        guest.until_waiting(1).await;
        let start = Instant::now();
        guard.release().await.unwrap();
        let (next, granted) = within(SOON, "the next one gets in", waiting).await.unwrap();
        taken.push(granted.saturating_duration_since(start));
        guard = next;
    }
    taken.sort_unstable();
    let median = taken[TIMES / 2];
    println!(
        "handed over within {median:?} at p50, {:?} at most",
        taken[TIMES - 1]
    );
    // Who asked again would do so after 50 to 150 ms.
    assert!(median < Duration::from_millis(40), "too late: {taken:?}");
}
