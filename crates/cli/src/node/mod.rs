//! A node that runs here: workflows on a store, asked by HTTP, until it is told to end.

mod banner;
mod config;
pub(crate) mod dev;
mod folder;
pub(crate) mod place;
mod samples;
pub(crate) mod serve;
mod settings;
pub(crate) mod signals;
mod work;

pub(crate) use signals::Signals;

use crate::{
    exit::{self, End, Ended},
    show,
};
use banner::Banner;
use lockwork::{
    Locks,
    distributed::{Distributed, DistributedOptions, DistributedRuntime, LockCluster},
    runtime::{Clock, Drained, Options, RuntimeBuilder, Store, SystemClock, store::Filter},
    server::{Keys, Listening, Secret, Server},
    workflow::{self, SubStatus},
};
use std::{error::Error as _, io, sync::Arc};

/// What a node is made of.
pub(crate) struct Plan {
    pub(crate) builder: RuntimeBuilder,
    pub(crate) locks: Locks,
    pub(crate) cluster: DistributedOptions,
    pub(crate) listen: String,
    pub(crate) keys: Keys,
    pub(crate) secret: Option<Secret>,
    pub(crate) workflows_at: Option<String>,
    /// Whether it is known that no other node is at work on the store.
    pub(crate) is_alone: bool,
    /// How people read where the store is, and what it is; so for the locks.
    pub(crate) store_shown: (String, &'static str),
    pub(crate) locks_shown: (String, &'static str),
}

/// How nodes on this store live together, if they can rely on these locks. Asks nobody: so a pair that is unsafe is refused
/// before anything is opened.
pub(crate) fn pair(
    store: &str,
    locks: &Locks,
    allow_local_locks: bool,
) -> workflow::Result<DistributedOptions> {
    let mut cluster = DistributedOptions::default();
    // All who can reach a file are on this machine.
    cluster.allow_local_locks = allow_local_locks || place::is_file(store);
    LockCluster::new(locks.clone(), cluster.clone()).map(|_| cluster)
}

/// A builder for a store, with what the command brings along.
pub(crate) fn builder(store: Arc<dyn Store>, options: Options) -> RuntimeBuilder {
    RuntimeBuilder::new(store)
        .options(options)
        .registry(work::registry())
}

/// Runs it until somebody ends it.
pub(crate) async fn run(plan: Plan) -> Ended {
    // Before anything is begun, so that no signal finds it half way.
    let signals = Signals::listen()?;
    let has_keys = !plan.keys.is_empty();
    let runtime = plan.builder.distributed(plan.locks.clone(), plan.cluster)?;
    let mut server = Server::new(runtime.clone())
        .locks(plan.locks)
        .keys(plan.keys);
    if let Some(secret) = plan.secret {
        server = server.secret(secret);
    }
    if let Some(path) = plan.workflows_at {
        server = server.workflows_at(path);
    }
    let listening = listen(server, &plan.listen).await?;
    let interrupted = match plan.is_alone || !others_live(&runtime).await? {
        true => interrupted(&**runtime.store(), banner::COUNTED).await?,
        // What is under way may be theirs.
        false => 0,
    };
    runtime.start().await?;
    let banner = Banner {
        interrupted,
        node: runtime.name().to_owned(),
        address: listening.address(),
        has_keys,
        store: plan.store_shown,
        locks: plan.locks_shown,
        workflows: workflows(&runtime).await?,
    };
    banner.print();
    Ok(until_told(listening, signals).await)
}

async fn until_told(listening: Listening, signals: Signals) -> u8 {
    if listening.run(signals.end()).await == Drained::TimedOut {
        show::say(
            "some work did not come to the end of a step in time: it is done again elsewhere",
        );
    }
    0
}

async fn listen(server: Server, at: &str) -> Ended<Listening> {
    server.listen(at).await.map_err(|error| {
        let cause = error.source().and_then(|cause| cause.downcast_ref());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::AddrInUse) => {
                let sentence = format!(
                    "another program has {at} already: end it, or say --listen 127.0.0.1:0 for any port that is free"
                );
                End::new(exit::UNAVAILABLE, sentence)
            }
            Some(_) => error.with("listen", at).into(),
            None => error.into(),
        }
    })
}

async fn others_live(runtime: &DistributedRuntime) -> workflow::Result<bool> {
    let (nodes, now) = (runtime.nodes().await?, SystemClock.now());
    Ok(nodes
        .iter()
        .any(|node| node.until > now && node.name != runtime.name()))
}

/// How many instances were under way when the last node on this store ended: `most` at most, and one more if there are more.
/// It is only told, and a store may have as many as it likes.
async fn interrupted(store: &dyn Store, most: usize) -> workflow::Result<usize> {
    let mut count = 0;
    for status in [
        SubStatus::Pending,
        SubStatus::Executing,
        SubStatus::Interrupted,
    ] {
        let filter = Filter {
            sub_status: Some(status),
            limit: Some(most + 1 - count),
            ..Filter::default()
        };
        count += store.list(filter).await?.len();
        if count > most {
            break;
        }
    }
    Ok(count)
}

/// The workflows that can be started.
async fn workflows(runtime: &DistributedRuntime) -> workflow::Result<Vec<String>> {
    let versions = runtime.store().versions(None).await?;
    let published = versions.into_iter().filter(|version| version.published);
    let mut ids: Vec<_> = published
        .map(|version| show::harmless(version.definition.id.as_str()))
        .collect();
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork::{
        runtime::MemoryStore,
        workflow::{Create, DefinitionHandle, Runtime},
    };

    const ONE: &str = r#"{ "lockwork": 1, "id": "one", "root": { "type": "Log", "id": "a", "with": { "text": "b" } } }"#;

    #[tokio::test]
    async fn of_many_interrupted_instances_no_more_are_read_than_are_told() {
        let store = Arc::new(MemoryStore::new());
        let runtime = builder(store.clone(), Options::default()).build();
        let one = lockwork::flow::Definition::from_json(ONE).unwrap();
        let one = runtime.definitions().publish(one).await.unwrap();
        for _ in 0..5 {
            let create = Create::new(DefinitionHandle::Version(one.id.clone()));
            runtime.client(None).create(create).await.unwrap();
        }
        assert_eq!(interrupted(&*store, 2).await.unwrap(), 3);
        assert_eq!(interrupted(&*store, 4).await.unwrap(), 5);
        assert_eq!(interrupted(&*store, 5).await.unwrap(), 5);
    }
}
