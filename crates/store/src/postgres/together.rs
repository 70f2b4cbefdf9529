//! Many operations in one statement: those that come while another of their kind is under way share the next one. Whoever
//! comes alone waits for nobody, and nobody waits for long for one that is held up.
//!
//! Most of what a small change costs is the way to the server and its commit, and both are paid once for all of them.
//! All are done, or none: if one is refused, each is tried by itself and has an answer of its own.

use super::{bell::Bell, errors::Trouble, pool::Operation, pool::Pool, statements::Statements};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::PgConnection;
use std::{
    collections::{HashSet, VecDeque},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::timeout};

/// How long the one that is under way may take before another one goes: it may have met a row that somebody holds. Some
/// times as long as a commit takes; with two on their way at once each carries half as many, and costs as much.
const PATIENCE: Duration = Duration::from_millis(20);

/// So many of a kind are under way at once at most.
const CARRIERS: usize = 8;

/// So many operations share one at most.
const TOGETHER: usize = 64;

/// An operation that can share a statement with others like it.
pub(super) trait Together: Operation {
    /// The instance it is about. Two about the same one do not share a statement.
    fn instance(&self) -> &str;

    /// All of them, or none.
    fn run_all<'a>(
        all: &'a [Self],
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> impl Future<Output = Result<Vec<Self::Out>, Trouble>> + Send + 'a
    where
        Self: Sized;
}

/// What is needed to ask the server, and to tell others of it.
pub(super) struct Ways {
    pub(super) pool: Arc<Pool>,
    pub(super) sql: Arc<Statements>,
    pub(super) bell: Arc<Bell>,
}

impl Ways {
    /// Does one operation, by itself.
    pub(super) async fn one<O: Operation>(&self, operation: &O) -> Result<O::Out> {
        let done = self.pool.run(operation, &self.sql).await;
        if done.as_ref().is_ok_and(O::rings) {
            self.bell.ring();
        }
        done
    }
}

/// Operations of one kind, and those who carry them to the server.
pub(super) struct Line<O: Together>(Mutex<Inner<O>>);

struct Inner<O: Together> {
    waiting: VecDeque<Waiting<O>>,
    carriers: usize,
}

/// An operation, and who wants to know what became of it.
type Waiting<O> = (O, oneshot::Sender<Result<<O as Operation>::Out>>);

impl<O: Together> Default for Line<O> {
    fn default() -> Self {
        Self(Mutex::new(Inner {
            waiting: VecDeque::new(),
            carriers: 0,
        }))
    }
}

impl<O: Together> Line<O> {
    /// Does `operation`, which goes on to its end if nobody waits for it any more.
    pub(super) async fn run(self: &Arc<Self>, operation: O, ways: &Arc<Ways>) -> Result<O::Out> {
        let (done, mut is_done) = oneshot::channel();
        self.inner().waiting.push_back((operation, done));
        self.send_one(1, ways);
        loop {
            match timeout(PATIENCE, &mut is_done).await {
                // The runtime of whoever carried it has ended.
                Ok(answer) => return answer.unwrap_or_else(|_| Err(half_way())),
                Err(_) => self.send_one(CARRIERS, ways),
            }
        }
    }

    /// Sends one to the server, if somebody waits and fewer than `most` are under way.
    fn send_one(self: &Arc<Self>, most: usize, ways: &Arc<Ways>) {
        {
            let mut inner = self.inner();
            if inner.waiting.is_empty() || inner.carriers >= most {
                return;
            }
            inner.carriers += 1;
        }
        let carrier = Carrier {
            line: Arc::clone(self),
            has_left: false,
        };
        tokio::spawn(carrier.carry(Arc::clone(ways)));
    }

    fn inner(&self) -> MutexGuard<'_, Inner<O>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next that go together, by instance, so that all nodes touch rows in one order.
    fn next(&self) -> Vec<Waiting<O>> {
        let mut inner = self.inner();
        let (mut seen, mut left) = (HashSet::new(), VecDeque::new());
        let mut next = Vec::new();
        while next.len() < TOGETHER
            && let Some(waiting) = inner.waiting.pop_front()
        {
            match seen.insert(waiting.0.instance().to_owned()) {
                true => next.push(waiting),
                false => left.push_back(waiting),
            }
        }
        left.append(&mut inner.waiting);
        inner.waiting = left;
        next.sort_by(|(a, _), (b, _)| a.instance().cmp(b.instance()));
        next
    }

    /// Whether a carrier with nothing to carry leaves: not if something has come since it looked.
    fn leaves(&self) -> bool {
        let mut inner = self.inner();
        let leaves = inner.waiting.is_empty();
        inner.carriers -= usize::from(leaves);
        leaves
    }
}

/// Whoever takes operations to the server, as long as there are some.
struct Carrier<O: Together> {
    line: Arc<Line<O>>,
    has_left: bool,
}

impl<O: Together> Carrier<O> {
    async fn carry(mut self, ways: Arc<Ways>) {
        while !self.has_left {
            let next = self.line.next();
            match next.is_empty() {
                true => self.has_left = self.line.leaves(),
                false => together(next, &ways).await,
            }
        }
    }
}

/// Its runtime ends: whoever counts on it is told so.
impl<O: Together> Drop for Carrier<O> {
    fn drop(&mut self) {
        if !self.has_left {
            let mut inner = self.line.inner();
            inner.carriers -= 1;
            inner.waiting.clear();
        }
    }
}

async fn together<O: Together>(mut all: Vec<Waiting<O>>, ways: &Arc<Ways>) {
    if let [_] = all.as_slice()
        && let Some((one, done)) = all.pop()
    {
        // That nobody waits for it any more is their business: here, and below.
        let _ = done.send(ways.one(&one).await);
        return;
    }
    let (all, wait): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let all = All(all);
    match ways.pool.once(&all, &ways.sql).await {
        Ok(outs) => {
            for (out, done) in outs.into_iter().zip(wait) {
                let _ = done.send(Ok(out));
            }
        }
        // Nobody knows whether they were done.
        Err(Trouble::Broken(error)) => {
            for done in wait {
                let _ = done.send(Err(error.clone()));
            }
        }
        Err(Trouble::Again(_) | Trouble::Refused(_)) => {
            for (one, done) in all.0.into_iter().zip(wait) {
                let ways = Arc::clone(ways);
                tokio::spawn(async move { done.send(ways.one(&one).await) });
            }
        }
    }
}

/// Operations that share a statement.
struct All<O>(Vec<O>);

impl<O: Together> Operation for All<O> {
    type Out = Vec<O::Out>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        O::run_all(&self.0, at, sql).await
    }
}

/// Nobody knows how far it came.
pub(super) fn half_way() -> Error {
    let message = "an operation of the store was ended half way";
    Error::new(ErrorKind::Unavailable, message)
}
