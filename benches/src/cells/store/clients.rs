//! Many clients at once, each with the next thing to do as soon as it has done one.

use crate::cell::Outcome;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};

/// Something under way.
pub(super) type Doing = Pin<Box<dyn Future<Output = Outcome<()>> + Send>>;

/// How many there are.
pub(super) const CLIENTS: usize = 32;

/// Two threads for all of them.
pub(super) fn two_threads() -> Outcome<Runtime> {
    Ok(Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?)
}

/// Does `work` so often: it is told which client does it, and how often it has been done.
pub(super) async fn all<W, F>(operations: u64, work: W) -> Outcome<()>
where
    W: Fn(usize, u64) -> F + Clone + Send + 'static,
    F: Future<Output = Outcome<()>> + Send + 'static,
{
    let (done, mut clients) = (Arc::new(AtomicU64::new(0)), JoinSet::new());
    for client in 0..CLIENTS {
        let (done, work) = (Arc::clone(&done), work.clone());
        clients.spawn(async move {
            loop {
                let number = done.fetch_add(1, Relaxed);
                if number >= operations {
                    return Ok(());
                }
                work(client, number).await?;
            }
        });
    }
    clients.join_all().await.into_iter().collect()
}

/// The same by the clock: nanoseconds for each.
pub(super) async fn timed<W, F>(operations: u64, work: W) -> Outcome<Vec<f64>>
where
    W: Fn(usize, u64) -> F + Clone + Send + 'static,
    F: Future<Output = Outcome<()>> + Send + 'static,
{
    let begun = Instant::now();
    all(operations, work).await?;
    Ok(vec![begun.elapsed().as_nanos() as f64 / operations as f64])
}
