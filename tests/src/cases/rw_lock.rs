//! Many readers, or one writer.

use super::{Case, Need, case};
use crate::{
    Context, Promise,
    context::{SOON, a_while, within},
};
use lockwork::backend::queue::DEFAULT_TENURE;
use std::time::Duration;

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(readers_of_all_clients_share_and_a_writer_is_alone).needs(&[Need::RwLock]),
        case!(a_waiting_writer_keeps_later_readers_of_its_client_out).needs(&[Need::RwLock]),
        case!(a_waiting_writer_keeps_later_readers_of_other_clients_out)
            .needs(&[Need::RwLock, Need::Promise(Promise::WriterPreference)]),
        case!(a_writer_gets_in_while_readers_keep_coming).needs(&[Need::RwLock]),
        case!(a_reader_that_waited_for_a_writer_gets_in).needs(&[Need::RwLock]),
        case!(a_reader_behind_a_writer_who_gives_up_gets_in).needs(&[Need::RwLock]),
    ]
}

async fn readers_of_all_clients_share_and_a_writer_is_alone(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (here, there) = (here.rw_lock(&name), there.rw_lock(&name));
    let readers = [
        here.read().await.unwrap(),
        here.read().await.unwrap(),
        there.read().await.unwrap(),
    ];
    for lock in [&here, &there] {
        assert!(lock.try_write().await.unwrap().is_none());
    }
    for reader in readers {
        reader.release().await.unwrap();
    }
    let writer = there
        .try_write()
        .await
        .unwrap()
        .expect("all readers have left");
    for lock in [&here, &there] {
        assert!(lock.try_read().await.unwrap().is_none());
        assert!(lock.try_write().await.unwrap().is_none());
    }
    writer.release().await.unwrap();
    assert!(here.try_read().await.unwrap().is_some());
}

async fn a_waiting_writer_keeps_later_readers_of_its_client_out(cx: Context) {
    let locks = cx.client().await;
    overtaking(&locks, &locks, &cx.name("x"), async || a_while().await).await;
}

async fn a_waiting_writer_keeps_later_readers_of_other_clients_out(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let lock = there.rw_lock(&name);
    let knows = cx.harness.promises(Promise::KnowsWaiters);
    let is_in_line = async || match knows {
        true => !lock.holders().await.unwrap().waiting.is_empty(),
        // Where nobody can be asked who waits, whether readers are kept out by somebody tells.
        false => lock.try_read().await.unwrap().is_none(),
    };
    let it_waits = async || {
        // Then the reader's grant is too old to be shared with another of its client.
        tokio::time::sleep(DEFAULT_TENURE).await;
        while !is_in_line().await {
            a_while().await;
        }
    };
    overtaking(&here, &there, &name, it_waits).await;
}

async fn overtaking(
    here: &lockwork::Locks,
    there: &lockwork::Locks,
    name: &str,
    it_waits: impl AsyncFnOnce(),
) {
    let reader = there.rw_lock(name).read().await.unwrap();
    let writing = tokio::spawn({
        let lock = here.rw_lock(name);
        async move { lock.write().await.unwrap() }
    });
    within(SOON, "the writer waits", it_waits()).await;
    let overtaker = there.rw_lock(name).try_read().await.unwrap();
    assert!(overtaker.is_none(), "a reader overtook a waiting writer");
    reader.release().await.unwrap();
    let writer = within(SOON, "the writer gets in", writing).await.unwrap();
    writer.release().await.unwrap();
    let reading = there.rw_lock(name).try_read_for(SOON).await.unwrap();
    assert!(
        reading.is_some(),
        "readers are still kept out: not within {SOON:?}"
    );
}

async fn a_writer_gets_in_while_readers_keep_coming(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let reading: Vec<_> = (0..8)
        .map(|_| {
            let lock = locks.rw_lock(&name);
            tokio::spawn(async move {
                loop {
                    let _guard = lock.read().await.unwrap();
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
            })
        })
        .collect();
    a_while().await;
    for _ in 0..3 {
        let lock = locks.rw_lock(&name);
        drop(
            within(SOON, "the writer gets in", lock.write())
                .await
                .unwrap(),
        );
    }
    for task in reading {
        task.abort();
    }
}

async fn a_reader_that_waited_for_a_writer_gets_in(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let writer = here.rw_lock(&name).write().await.unwrap();
    let waiting: Vec<_> = [here, there]
        .map(|locks| {
            let lock = locks.rw_lock(&name);
            tokio::spawn(async move { lock.read().await.unwrap() })
        })
        .into();
    a_while().await;
    writer.release().await.unwrap();
    let mut readers = Vec::new();
    for task in waiting {
        readers.push(
            within(SOON, "both readers are in together", task)
                .await
                .unwrap(),
        );
    }
}

async fn a_reader_behind_a_writer_who_gives_up_gets_in(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    for (locks, others) in [(&here, &here), (&here, &there)] {
        let first = locks.rw_lock(&name).read().await.unwrap();
        let writing = tokio::spawn({
            let lock = others.rw_lock(&name);
            async move {
                lock.try_write_for(Duration::from_millis(100))
                    .await
                    .unwrap()
            }
        });
        a_while().await;
        let reading = tokio::spawn({
            let lock = locks.rw_lock(&name);
            async move { lock.read().await.unwrap() }
        });
        assert!(writing.await.unwrap().is_none());
        let second = within(SOON, "the reader behind it gets in", reading)
            .await
            .unwrap();
        first.release().await.unwrap();
        second.release().await.unwrap();
    }
}
