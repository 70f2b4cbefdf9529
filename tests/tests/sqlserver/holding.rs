//! How many connections it takes.

use crate::{SOON, place::Place, wait_for, within};
use lockwork::Locks;
use std::time::Duration;

const LOCKS: usize = 1000;
const CONTENDED: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_locks_take_two_connections_and_twenty_contended_names_four_more() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let backend = place.options().connect().await.unwrap();
    let here = Locks::with_tenure(backend.clone(), Duration::ZERO);
    let taking: Vec<_> = (0..LOCKS)
        .map(|number| wait_for(&here, &format!("held-{number}")))
        .collect();
    let mut held = Vec::new();
    for one in taking {
        held.push(within(SOON, "a lock", one).await.unwrap().0);
    }
    assert_eq!(guest.held().await, i32::try_from(LOCKS).unwrap());
    let holding = guest.connections().await;
    assert!(holding <= 2, "{holding}");
    let there = place.client().await;
    let mut theirs = Vec::new();
    for number in 0..CONTENDED {
        let mutex = there.mutex(format!("theirs-{number}"));
        theirs.push(mutex.lock().await.unwrap());
    }
    let others = guest.connections().await - holding;
    let waiting: Vec<_> = (0..CONTENDED)
        .map(|number| wait_for(&here, &format!("theirs-{number}")))
        .collect();
    guest.until_waiting(4).await;
    let all = guest.connections().await - others;
    println!("{LOCKS} locks on {holding} connections, {all} while {CONTENDED} names are contended");
    // One for the thousand, one to try on, and four that wait.
    assert!(all <= 2 + 4, "{all}");
    assert_eq!(i32::try_from(backend.connections()).unwrap(), all);
    drop(theirs);
    for one in waiting {
        drop(within(SOON, "everybody gets in", one).await.unwrap());
    }
    drop(held);
    guest.until_nothing_is_left().await;
}
