//! Workflows on nodes with a durable store.

use super::{
    clients::{self, Doing, all, two_threads},
    cpu::Server,
    work::{self, node, over, placed, whole},
};
use crate::{
    cell::{Outcome, Turns},
    cells::{directory, postgres},
};
use lockwork::{
    flow::Commit,
    runtime::{LocalRuntime, Store},
    workflow::{BookmarkId, DefinitionHandle, InstanceId, Values},
};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) fn postgres_bursts() -> Outcome<Turns> {
    wholes(postgres_url()?, Commit::Burst)
}

pub(super) fn postgres_steps() -> Outcome<Turns> {
    wholes(postgres_url()?, Commit::Step)
}

pub(super) fn sqlite_bursts() -> Outcome<Turns> {
    let directory = directory()?;
    let file = directory.path().join("store.db");
    let mut turns = wholes(format!("sqlite:{}", file.display()), Commit::Burst)?;
    Ok(Box::new(move |operations| {
        let _stays = &directory;
        turns(operations)
    }))
}

/// The server of this run. Everybody has a schema of their own there, so that none finds what another has left.
pub(super) fn postgres_url() -> Outcome<String> {
    let (url, schema) = (postgres::url()?, rand::random::<u64>());
    Ok(format!("{url}&schema=bench_{schema:016x}&pool=32"))
}

pub(super) async fn open(url: &str) -> Outcome<Arc<dyn Store>> {
    Ok(lockwork::store::connect(url).await?)
}

/// Instances are created, and run to their end.
pub(super) fn wholes(url: String, commit: Commit) -> Outcome<Turns> {
    let threads = two_threads()?;
    let (runtime, handle) =
        threads.block_on(async { node(open(&url).await?, work::three_steps(commit)?).await })?;
    Ok(Box::new(move |operations| {
        let one = one(&runtime, &handle);
        threads.block_on(clients::timed(operations, one))
    }))
}

/// The same by what the processor does.
pub(super) fn postgres_cpu() -> Outcome<Turns> {
    let (threads, url) = (two_threads()?, postgres_url()?);
    let (server, (runtime, handle)) = threads.block_on(async {
        let node = node(open(&url).await?, work::three_steps(Commit::Burst)?).await?;
        Outcome::Ok((Server::find().await?, node))
    })?;
    Ok(Box::new(move |operations| {
        let before = server.with_us()?;
        threads.block_on(all(operations, one(&runtime, &handle)))?;
        let used = server.with_us()?.saturating_sub(before);
        Ok(vec![used.as_nanos() as f64 / operations as f64])
    }))
}

pub(super) fn one(
    runtime: &LocalRuntime,
    handle: &DefinitionHandle,
) -> impl Fn(usize, u64) -> Doing + Clone + use<> {
    let (runtime, handle) = (runtime.clone(), handle.clone());
    move |_, _| {
        let (runtime, handle) = (runtime.clone(), handle.clone());
        Box::pin(async move { whole(&runtime, handle).await })
    }
}

/// Instances that wait are resumed, each at its bookmark.
pub(super) fn postgres_resumed() -> Outcome<Turns> {
    waiting(|runtime, _, instance, bookmark| {
        Box::pin(async move {
            let resumer = runtime.resumer();
            let resumed = resumer.resume(&instance, bookmark, Values::new()).await?;
            over(resumed.sub_status)
        })
    })
}

/// They are told of their events.
pub(super) fn postgres_told() -> Outcome<Turns> {
    waiting(|runtime, order, _, _| {
        Box::pin(async move {
            let reached = runtime
                .sender()
                .event(&order, serde_json::json!({}))
                .await?;
            let resumed = reached.resumed.first().ok_or("an order waits for it")?;
            over(resumed.sub_status)
        })
    })
}

type Resume = fn(LocalRuntime, String, InstanceId, BookmarkId) -> Doing;

fn waiting(resume: Resume) -> Outcome<Turns> {
    let (threads, url) = (two_threads()?, postgres_url()?);
    let (runtime, handle) =
        threads.block_on(async { node(open(&url).await?, work::waiting()?).await })?;
    let mut turn = 0;
    Ok(Box::new(move |operations| {
        turn += 1;
        let placed = threads.block_on(place(&runtime, &handle, turn, operations))?;
        let (runtime, placed) = (runtime.clone(), Arc::new(Mutex::new(placed)));
        threads.block_on(clients::timed(operations, move |_, _| {
            let (runtime, placed) = (runtime.clone(), Arc::clone(&placed));
            async move {
                let next = placed.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let (order, (instance, bookmark)) =
                    next.ok_or("there are as many as clients want")?;
                resume(runtime, order, instance, bookmark).await
            }
        }))
    }))
}

type Placed = Vec<(String, (InstanceId, BookmarkId))>;

/// So many that wait, each for an event that nobody else waits for.
async fn place(
    runtime: &LocalRuntime,
    handle: &DefinitionHandle,
    turn: u64,
    count: u64,
) -> Outcome<Placed> {
    let all_placed = Arc::new(Mutex::new(Placed::new()));
    let (runtime, handle, into) = (runtime.clone(), handle.clone(), Arc::clone(&all_placed));
    all(count, move |_, number| {
        let (runtime, handle, into) = (runtime.clone(), handle.clone(), Arc::clone(&into));
        async move {
            let order = format!("paid-{turn}-{number}");
            let placed = placed(&runtime, handle, &order).await?;
            into.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((order, placed));
            Ok(())
        }
    })
    .await?;
    Ok(std::mem::take(
        &mut *all_placed.lock().unwrap_or_else(PoisonError::into_inner),
    ))
}
