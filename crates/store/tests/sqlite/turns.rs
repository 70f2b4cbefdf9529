//! Two that write to one file: neither keeps the other out.

use crate::support::{Place, errand, generous, soon};
use lockwork_runtime::store::ErrandStore;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// So many write to the first one all the time, so that there is always a next group when one was committed.
const BUSY: usize = 16;

/// How often the second one writes meanwhile.
const WRITES: usize = 200;

/// The longest that one write may take beside them: some groups, and a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_writes_without_end_keeps_no_other_out() {
    let place = Place::new();
    let (busy, other) = (Arc::new(place.open().await), place.open().await);
    let mut tasks = JoinSet::new();
    for task in 0..BUSY {
        let busy = Arc::clone(&busy);
        tasks.spawn(async move {
            for number in 0.. {
                let errand = errand(&format!("{task}/{number}"));
                busy.add(vec![errand]).await.unwrap();
            }
        });
    }
    let mut waits = Vec::with_capacity(WRITES);
    for number in 0..WRITES {
        let asked = Instant::now();
        soon(other.add(vec![errand(&format!("other/{number}"))]))
            .await
            .unwrap();
        waits.push(asked.elapsed());
    }
    // Beside them still, as the writes were.
    let allowed = generous(LONGEST);
    tasks.abort_all();
    waits.sort_unstable();
    let (median, longest) = (waits[WRITES / 2], waits[WRITES - 1]);
    println!("a write took {median:?} in the middle, {longest:?} at most");
    assert!(
        longest < allowed,
        "too late: {longest:?}, {median:?} in the middle, at most {allowed:?}"
    );
}

/// As a process does that stands still while it is next.
#[tokio::test]
async fn whoever_stands_still_while_it_is_next_holds_nobody_up_for_long() {
    let place = Place::new();
    let store = place.open().await;
    let turn = std::fs::File::open(format!("{}-turn", place.file().display())).unwrap();
    turn.lock().unwrap();
    let asked = Instant::now();
    soon(store.add(vec![errand("late")])).await.unwrap();
    let took = asked.elapsed();
    assert!(took < generous(2 * LONGEST), "too late: {took:?}");
}
