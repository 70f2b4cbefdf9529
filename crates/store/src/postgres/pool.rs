//! Connections, and what becomes of them.
//!
//! Each operation has a connection and a task of its own, and goes on to its end when nobody waits for it any more: a
//! statement whose caller has gone leaves no connection in the middle of something. The driver's own pool asks the server
//! for a sign of life each time a connection comes back, which is as long a way as the operation itself; this one
//! asks after a pause only, and otherwise finds out by the next statement.

use super::{
    errors::{Trouble, is_lack_of_startup},
    options::Options,
    statements::Statements,
};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::{ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use std::{
    future::Future,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

/// How long getting in may take.
const ENTERING: Duration = Duration::from_secs(5);

/// How much longer than the server an operation waits: what the server gives up is known not to be done.
const MARGIN: Duration = Duration::from_secs(2);

/// After this long without use, a connection is asked whether it is still there.
const STALE: Duration = Duration::from_secs(1);

/// One thing that is asked of the store: one statement.
pub(super) trait Operation: Send + Sync + 'static {
    type Out: Send + 'static;

    fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> impl Future<Output = Result<Self::Out, Trouble>> + Send + 'a;

    /// Whether other nodes have something to do after this.
    fn rings(_out: &Self::Out) -> bool {
        false
    }
}

/// Some connections.
#[derive(Debug)]
pub(super) struct Pool {
    connect: PgConnectOptions,
    deadline: Duration,
    /// Whether the server can be told settings at the beginning of a connection. Some poolers cannot.
    is_plain: AtomicBool,
    room: Semaphore,
    idle: Mutex<Vec<(PgConnection, Instant)>>,
}

impl Pool {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            connect: options.connect.clone(),
            deadline: options.deadline,
            is_plain: AtomicBool::new(false),
            room: Semaphore::new(options.pool),
            idle: Mutex::default(),
        }
    }

    /// How connections are made.
    pub(super) fn options(&self) -> PgConnectOptions {
        if self.is_plain.load(Ordering::Relaxed) {
            return self.connect.clone();
        }
        let limit = self.deadline.as_millis().to_string();
        self.connect.clone().options([
            ("statement_timeout", limit.as_str()),
            ("default_transaction_isolation", "read committed"),
            // A statement whose process is gone ends.
            ("client_connection_check_interval", "2000"),
            ("jit", "off"),
        ])
    }

    /// A new connection, which belongs to nobody.
    pub(super) async fn open(&self) -> Result<PgConnection, Trouble> {
        let opened = match timeout(ENTERING, self.options().connect()).await {
            Ok(Err(error)) if is_lack_of_startup(&error) => {
                self.is_plain.store(true, Ordering::Relaxed);
                timeout(ENTERING, self.options().connect()).await
            }
            other => other,
        };
        match opened {
            Ok(opened) => Ok(opened?),
            Err(_) => Err(Trouble::Broken(Error::new(
                ErrorKind::Unavailable,
                "the PostgreSQL server does not let us in: check host and port, and whether it runs",
            ))),
        }
    }

    /// Does `operation`. Once begun, it is not dropped half way.
    pub(super) async fn run<O: Operation>(
        &self,
        operation: &O,
        sql: &Statements,
    ) -> Result<O::Out> {
        let _permit = self.room().await?;
        let (began, mut tries) = (Instant::now(), 1);
        loop {
            match self.attempt(operation, sql).await {
                // Whoever was in the way has got on, so this does not go on for ever.
                Err(Trouble::Again(_)) if began.elapsed() < self.deadline => {
                    let pause = rand::random_range(1..=(1 << tries.min(5)));
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    tries += 1;
                }
                other => return other.map_err(Trouble::into_error),
            }
        }
    }

    /// The same, and not again if somebody was in the way.
    pub(super) async fn once<O: Operation>(
        &self,
        operation: &O,
        sql: &Statements,
    ) -> Result<O::Out, Trouble> {
        let _permit = self.room().await.map_err(Trouble::Broken)?;
        self.attempt(operation, sql).await
    }

    /// Room for one more statement.
    async fn room(&self) -> Result<SemaphorePermit<'_>> {
        let room = timeout(self.deadline, self.room.acquire()).await;
        room.ok().and_then(Result::ok).ok_or_else(|| {
            let message = "all connections to PostgreSQL are busy: say a larger pool, or ask for less at once";
            Error::new(ErrorKind::Unavailable, message)
        })
    }

    async fn attempt<O: Operation>(
        &self,
        operation: &O,
        sql: &Statements,
    ) -> Result<O::Out, Trouble> {
        let mut connection = self.take().await?;
        let done = timeout(self.deadline + MARGIN, operation.run(&mut connection, sql)).await;
        match done {
            Ok(Err(Trouble::Broken(error))) => {
                // The others were made for the same server, and will be no better.
                self.idle().clear();
                Err(Trouble::Broken(error))
            }
            Ok(other) => {
                self.idle().push((connection, Instant::now()));
                other
            }
            Err(_) => Err(Trouble::Broken(Error::new(
                ErrorKind::Unavailable,
                "PostgreSQL has not answered in time, and nobody knows whether it did what was asked: look whether it \
                 can be reached, and what holds it up",
            ))),
        }
    }

    /// One that is good, as far as one can know.
    async fn take(&self) -> Result<PgConnection, Trouble> {
        loop {
            let Some((mut connection, used)) = self.idle().pop() else {
                return self.open().await;
            };
            if used.elapsed() < STALE {
                return Ok(connection);
            }
            if let Ok(Ok(())) = timeout(ENTERING, connection.ping()).await {
                return Ok(connection);
            }
            self.idle().clear();
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(PgConnection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up what is not in use.
    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle());
        for (connection, _) in idle {
            // It is gone either way.
            let _ = connection.close().await;
        }
    }
}
