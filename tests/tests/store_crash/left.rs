//! What must not be left when everybody is done.

use lockwork::runtime::Store;
use lockwork_conformance::within;
use std::time::Duration;

/// Waits until nothing is due, waits, or has to be done any more.
pub(crate) async fn until_nothing_is_left(store: &dyn Store) {
    within(
        Duration::from_secs(20),
        "nothing is left to be done",
        async {
            while let Some(left) = left(store).await {
                eprintln!("left: {left}");
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        },
    )
    .await;
    assert_eq!(store.dead_letters().await.unwrap(), []);
}

/// Errands, timers, schedules and jobs are due some time; stimuli and tasks wait.
async fn left(store: &dyn Store) -> Option<String> {
    let (due, tasks) = (
        store.next_due().await.unwrap(),
        store.tasks().await.unwrap(),
    );
    let waiting = store.waiting().await.unwrap();
    let none = due.is_none() && waiting.is_empty() && tasks.is_empty();
    (!none).then(|| format!("due {due:?}, waiting {waiting:?}, tasks {tasks:?}"))
}
