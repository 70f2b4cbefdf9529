//! Upgrades, and all or nothing.

use crate::{
    LONG, ask, asked, get, own, queue,
    remote::{Remote, poll_once, within},
    try_get, until,
};
use lockwork_core::lock::{Backend, Deadline, Hold, Memory, Mode, Name, Request, Result};
use std::time::Duration;

#[tokio::test]
async fn an_upgrade_goes_before_a_reader_who_waits_at_the_server() {
    // A writer elsewhere waits for our upgradeable reader, so a reader of ours waits behind it at
    // the server: the upgrade must not wait for that reader, or all three wait for ever.
    let memory = Memory::new();
    let queue = queue(memory.clone(), Duration::ZERO);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let mut writer_elsewhere = Box::pin(memory.acquire(ask(Mode::Write, Deadline::Never)));
    assert!(poll_once(&mut writer_elsewhere).is_pending());
    let reading = tokio::spawn({
        let queue = queue.clone();
        async move { get(&queue, Mode::Read).await }
    });
    tokio::task::yield_now().await;
    assert!(within(upgradeable.upgrade(Deadline::Never)).await.unwrap());
    assert!(upgradeable.token().is_some());
    tokio::task::yield_now().await;
    assert!(!reading.is_finished(), "a reader is in beside the writer");
    upgradeable.release().await.unwrap();
    let writer = within(writer_elsewhere).await.unwrap().unwrap();
    writer.release().await.unwrap();
    drop(within(reading).await.unwrap());
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_waits_for_local_readers_and_lets_no_new_ones_in() {
    let queue = queue(Remote::generous(), LONG);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let reader = get(&queue, Mode::Read).await;
    assert!(!within(upgradeable.upgrade(Deadline::Now)).await.unwrap());
    let mut upgrading = Box::pin(upgradeable.upgrade(Deadline::Never));
    assert!(poll_once(&mut upgrading).is_pending());
    assert!(
        try_get(&queue, Mode::Read).await.is_none(),
        "a reader came in during an upgrade"
    );
    drop(reader);
    assert!(within(upgrading).await.unwrap());
    assert!(try_get(&queue, Mode::Read).await.is_none());
    drop(upgradeable);
    assert!(try_get(&queue, Mode::Read).await.is_some());
}

#[tokio::test]
async fn an_upgrade_given_up_half_way_leaves_a_reader() {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let mut upgradeable = get(&queue, Mode::Upgradeable).await;
    let reader = get(&queue, Mode::Read).await;
    let mut upgrading = Box::pin(upgradeable.upgrade(Deadline::Never));
    assert!(poll_once(&mut upgrading).is_pending());
    drop(upgrading);
    assert!(
        try_get(&queue, Mode::Read).await.is_some(),
        "readers are still kept out"
    );
    drop(reader);
    drop(upgradeable);
    assert!(try_get(&queue, Mode::Write).await.is_some());
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
}

#[tokio::test]
async fn all_or_nothing_leaves_nothing_when_one_is_busy() -> Result<()> {
    let memory = Memory::new();
    let queue = queue(memory.clone(), LONG);
    let named = |name: &str| {
        let name = Name::new(name).expect("a name");
        Request::new(name, Mode::Exclusive, Deadline::Now)
    };
    let busy = asked(&queue, named("b")).await?.expect("free");
    assert!(
        queue
            .acquire_all(vec![named("a"), named("b"), named("c")])
            .await?
            .is_none()
    );
    assert_eq!((queue.lines(), memory.len()), (1, 1));
    drop(busy);
    let all = queue
        .acquire_all(vec![named("a"), named("b"), named("c")])
        .await?
        .expect("free");
    let all: Vec<_> = all.into_iter().map(own).collect();
    assert_eq!(all.len(), 3);
    assert!(asked(&queue, named("c")).await?.is_none());
    drop(all);
    until("nothing is left", || {
        queue.lines() == 0 && memory.is_empty()
    })
    .await;
    Ok(())
}
