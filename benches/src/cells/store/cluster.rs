//! Nodes that keep out of each other's way by locks, beside one that is alone.

use super::{
    clients::{self, Doing, two_threads},
    nodes::{one, open, postgres_url, wholes},
    work,
};
use crate::{
    cell::{Outcome, Turns},
    cells::{postgres, redis},
};
use lockwork::{
    distributed::{Distributed, DistributedOptions, DistributedRuntime},
    flow::Commit,
    runtime::RuntimeBuilder,
    workflow::DefinitionHandle,
};
use tokio::runtime::Runtime;

/// One node without locks.
pub(super) fn alone() -> Outcome<Turns> {
    wholes(postgres_url()?, Commit::Burst)
}

/// One node with locks on the server of its store.
pub(super) fn one_on_postgres() -> Outcome<Turns> {
    nodes(1, postgres::url()?)
}

/// One node with locks on Redis.
pub(super) fn one_on_redis() -> Outcome<Turns> {
    nodes(1, &redis::url()?)
}

/// Three nodes with locks on Redis.
pub(super) fn three_on_redis() -> Outcome<Turns> {
    nodes(3, &redis::url()?)
}

/// So many nodes on one store; clients ask one after another.
fn nodes(count: usize, locks: &str) -> Outcome<Turns> {
    let (threads, url) = (two_threads()?, postgres_url()?);
    let (nodes, handle) = threads.block_on(started(&url, locks, count))?;
    Ok(Box::new(move |operations| {
        let each: Vec<_> = nodes.iter().map(|node| one(node, &handle)).collect();
        timed(&threads, operations, each)
    }))
}

fn timed<W>(threads: &Runtime, operations: u64, each: Vec<W>) -> Outcome<Vec<f64>>
where
    W: Fn(usize, u64) -> Doing + Clone + Send + 'static,
{
    threads.block_on(clients::timed(operations, move |client, number| {
        each[client % each.len()](client, number)
    }))
}

/// Each with connections of its own to both servers.
async fn started(
    store: &str,
    locks: &str,
    count: usize,
) -> Outcome<(Vec<DistributedRuntime>, DefinitionHandle)> {
    let (mut nodes, mut version) = (Vec::new(), None);
    for _ in 0..count {
        let locks = lockwork::connect(locks).await?;
        let builder = RuntimeBuilder::new(open(store).await?);
        let node = builder.distributed(locks, DistributedOptions::default())?;
        let definition = work::three_steps(Commit::Burst)?;
        version = Some(node.definitions().publish(definition).await?.id);
        node.start().await?;
        nodes.push(node);
    }
    let version = version.ok_or("there is a node")?;
    Ok((nodes, DefinitionHandle::Version(version)))
}
