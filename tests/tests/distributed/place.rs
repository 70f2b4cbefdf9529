//! A place where locks live that remembers what it was asked, and fails when it is told to; and nodes on it.

use crate::support::{World, soon};
use lockwork::{
    Deadline, Error, ErrorKind, Holders, Info, Instant, LockId, LockOptions, Locks, Lost, Memory,
    Report, Request, Result, Token, Wait,
    backend::{Backend, Hold},
    distributed::{DistributedOptions, LockCluster},
    layers::Retry,
    runtime::RuntimeBuilder,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Locks in memory, watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    memory: Memory,
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    asked: Vec<(String, bool)>,
    fail: Vec<ErrorKind>,
    keeps: usize,
    /// Since when nothing is good any more, although nobody was told.
    expired: Option<Instant>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().expect("no test panics here")
    }

    /// The next questions about instances fail like this.
    pub(crate) fn fail(&self, kinds: impl IntoIterator<Item = ErrorKind>) {
        self.script().fail.extend(kinds);
    }

    /// So many locks cannot be given back.
    pub(crate) fn keep(&self, count: usize) {
        self.script().keeps = count;
    }

    /// The time of all locks is up, as after a process was frozen: nobody was told, and by the clock it is so.
    pub(crate) fn expire(&self) {
        self.script().expired = Some(Instant::now());
    }

    /// The locks that were asked for since the last time, and whether somebody would have waited for them.
    pub(crate) fn asked(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.script().asked)
    }

    /// The names of those.
    pub(crate) fn names(&self) -> Vec<String> {
        self.asked().into_iter().map(|(name, _)| name).collect()
    }

    /// Another way to it, with a line of its own in front.
    pub(crate) fn locks(&self) -> Locks {
        Locks::with_tenure(self.clone(), Duration::ZERO)
    }

    /// Somebody else has this one, until dropped.
    pub(crate) async fn hold(&self, name: &str) -> lockwork::Guard {
        let locks = Locks::with_tenure(self.memory.clone(), Duration::ZERO);
        let options = LockOptions::new().wait(Wait::No);
        let guard = locks.mutex(name).lock_with(options).await;
        guard.unwrap().expect("nobody has it")
    }

    /// Whether somebody has this one.
    pub(crate) async fn is_held(&self, name: &str) -> bool {
        let locks = Locks::with_tenure(self.memory.clone(), Duration::ZERO);
        locks.mutex(name).try_lock().await.unwrap().is_none()
    }

    /// Ends when nobody has this one, in time.
    pub(crate) async fn is_free(&self, name: &str) {
        let free = async {
            while self.is_held(name).await {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        soon(free).await;
    }

    /// Takes it away from whoever has it.
    pub(crate) async fn take_away(&self, name: &str) {
        let locks = Locks::with_tenure(self.memory.clone(), Duration::ZERO);
        let lock = locks.mutex(name);
        assert_eq!(lock.break_lock("a test wants it").await.unwrap(), 1);
    }

    /// What a node on this place shares.
    pub(crate) fn cluster(&self, change: impl FnOnce(&mut DistributedOptions)) -> LockCluster {
        let mut options = options();
        change(&mut options);
        LockCluster::new(self.locks(), options).unwrap()
    }

    /// For a builder, with nothing special.
    pub(crate) fn join(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        builder.cluster(self.cluster(|_| {}))
    }

    /// A world whose first node is on this place.
    pub(crate) async fn world(&self) -> World {
        World::with(|builder| self.join(builder)).await
    }
}

/// Locks in memory will do, and retries take no time.
pub(crate) fn options() -> DistributedOptions {
    let mut options = DistributedOptions::default();
    options.allow_local_locks = true;
    options.retry = Retry::new().first_delay(Duration::from_millis(1));
    options
}

/// Ends when it is so, in time.
pub(crate) async fn until(what: impl Fn() -> bool + Send + Sync) {
    let so = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    soon(so).await;
}

pub(crate) fn key(id: &str) -> String {
    format!("workflow-instance:{id}")
}

impl Backend for Place {
    type Hold = Watched;

    fn info(&self) -> Info {
        self.memory.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<Watched>> {
        let name = request.name.as_str().to_owned();
        {
            let mut script = self.script();
            let fails = name.starts_with("workflow-instance:") && !script.fail.is_empty();
            script
                .asked
                .push((name.clone(), request.deadline != Deadline::Now));
            if fails {
                let kind = script.fail.remove(0);
                return Err(Error::new(kind, "on purpose"));
            }
        }
        let hold = self.memory.acquire(request).await?;
        Ok(hold.map(|hold| Watched(hold, Arc::clone(&self.script))))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Watched>>> {
        let holds = self.memory.acquire_all(requests).await?;
        let watched = |hold| Watched(hold, Arc::clone(&self.script));
        Ok(holds.map(|holds| holds.into_iter().map(watched).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        self.memory.holders(id).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        self.memory.break_lock(id).await
    }

    async fn doctor(&self) -> Result<Report> {
        self.memory.doctor().await
    }
}

/// A grant whose end may fail.
#[derive(Debug)]
pub(crate) struct Watched(<Memory as Backend>::Hold, Arc<Mutex<Script>>);

impl Hold for Watched {
    fn token(&self) -> Option<Token> {
        self.0.token()
    }

    fn lost(&self) -> Lost {
        self.0.lost()
    }

    fn valid_until(&self) -> Option<Instant> {
        let script = self.1.lock().expect("no test panics here");
        script.expired.or_else(|| self.0.valid_until())
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        self.0.upgrade(deadline).await
    }

    async fn release(self) -> Result<()> {
        let keeps = {
            let mut script = self.1.lock().expect("no test panics here");
            let keeps = script.keeps > 0;
            script.keeps -= usize::from(keeps);
            keeps
        };
        self.0.release().await?;
        match keeps {
            true => Err(Error::new(ErrorKind::Unavailable, "on purpose")),
            false => Ok(()),
        }
    }
}
