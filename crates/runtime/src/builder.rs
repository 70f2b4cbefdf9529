//! Puts a runtime together.

use crate::{
    bursts::Bursts,
    clock::{Clock, SystemClock},
    cluster::{Alone, Cluster},
    contention::Contention,
    definitions::Definitions,
    events::Events,
    hands::Hands,
    jobs::{JobCall, Jobs},
    node::Node,
    options::Options,
    queue::Signal,
    refresher::LocalRefresher,
    reloader::{DefinitionProvider, LocalReloader},
    runner::Runner,
    runtime::{LocalRuntime, Parts},
    spans,
    store::Store,
};
use lockwork_core::workflow::{Failure, Value};
use lockwork_flow::Registry;
use std::{future::Future, sync::Arc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Puts a runtime together.
#[derive(Debug)]
pub struct RuntimeBuilder {
    store: Arc<dyn Store>,
    registry: Registry,
    clock: Arc<dyn Clock>,
    options: Options,
    jobs: Jobs,
    providers: Vec<Arc<dyn DefinitionProvider>>,
    cluster: Option<Arc<dyn Cluster>>,
}

impl RuntimeBuilder {
    /// One that writes everything down in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            registry: Registry::standard(),
            clock: Arc::new(SystemClock),
            options: Options::default(),
            jobs: Jobs::standard(),
            providers: Vec::new(),
            cluster: None,
        }
    }

    /// Which activities there are.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Who says what time it is.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How it behaves.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Long work that this program can do, under the name that definitions give it in a `Job`.
    ///
    /// # Cancel safety
    /// It may be dropped at any `await`, because nobody waits for it any more or the node ends. It is begun again then,
    /// elsewhere; [`JobCall::key`] says to others that it is the same.
    #[must_use]
    pub fn job<F, W>(mut self, kind: impl Into<String>, work: F) -> Self
    where
        F: Fn(JobCall) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.jobs = self.jobs.with(kind, work);
        self
    }

    /// Lets definitions run programs of this machine, with the rights of this one.
    #[cfg(feature = "shell")]
    #[must_use]
    pub fn allow_shell(mut self) -> Self {
        self.jobs = self.jobs.with_shell();
        self
    }

    /// Where definitions come from when it [starts](LocalRuntime::start).
    #[must_use]
    pub fn provider(mut self, provider: impl DefinitionProvider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// What this node and others on the same store agree on, instead of this one deciding alone.
    #[must_use]
    pub fn cluster(mut self, cluster: impl Cluster + 'static) -> Self {
        self.cluster = Some(Arc::new(cluster));
        self
    }

    /// A runtime that does what it is asked, and looks for work once it is [started](LocalRuntime::start).
    #[must_use]
    pub fn build(self) -> LocalRuntime {
        let Self {
            store,
            registry,
            clock,
            mut options,
            jobs,
            providers,
            cluster,
        } = self;
        let patience = options.patience;
        let cluster = cluster.unwrap_or_else(|| Arc::new(Alone { patience }));
        options.hold = options.hold.min(cluster.hold());
        let registry = registry.around(spans::Activities);
        let definitions = Definitions::new(Arc::clone(&store), registry, Arc::clone(&clock));
        let definitions = Arc::new(definitions);
        let runner = Runner {
            bursts: Bursts::new(options.bursts),
            events: Events::new(),
            hands: Arc::new(Hands::default()),
            signal: Signal::default(),
            hold: options.held(),
            definitions: Arc::clone(&definitions),
            store: Arc::clone(&store),
            contention: Contention::default(),
            turns: cluster.turns(),
            doors: cluster.doors(),
            clock,
        };
        let parts = Parts {
            runner: Arc::new(runner),
            refresher: cluster.refresher(Arc::new(LocalRefresher {
                store,
                definitions: Arc::clone(&definitions),
            })),
            reloader: cluster.reloader(Arc::new(LocalReloader {
                definitions,
                providers,
            })),
            node: Arc::new(Node::new(options.node.clone(), cluster)),
            options: Arc::new(options),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            jobs,
        };
        LocalRuntime {
            parts: Arc::new(parts),
        }
    }
}
