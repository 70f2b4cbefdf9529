//! Locks at a server, each by its own crate.

use super::server::client;
use crate::{
    cell::Outcome,
    cells::served::{Handed, Kind, name},
};
use distributed_lock_core::traits::{DistributedLock, LockHandle, LockProvider};
use distributed_lock_postgres::PostgresLockProvider;
use sqlx::{
    PgPool,
    pool::PoolConnection,
    postgres::{PgAdvisoryLock, PgAdvisoryLockGuard, PgPoolOptions},
};
use std::sync::Arc;
use tokio_postgres::{Client, Statement};

/// What the server itself has, by the plain driver: one connection, two prepared statements. Asks
/// for the lock in a way that waits for it, or in one that does not.
#[derive(Clone)]
pub(super) struct Plain<const WAITS: bool> {
    client: Arc<Client>,
    statements: Arc<[Statement; 2]>,
    key: i64,
}

impl<const WAITS: bool> Kind for Plain<WAITS> {
    type Guard = Self;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let client = Arc::new(client(url).await?);
        let take = match WAITS {
            true => "SELECT pg_advisory_lock($1) IS NOT NULL",
            false => "SELECT pg_try_advisory_lock($1)",
        };
        let take = client.prepare(take).await?;
        let give = client.prepare("SELECT pg_advisory_unlock($1)").await?;
        let statements = Arc::new([take, give]);
        let one = |number: u64| {
            Ok(Self {
                client: client.clone(),
                statements: statements.clone(),
                key: number.try_into()?,
            })
        };
        (0..names).map(one).collect()
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        self.run(0).await?;
        Ok(self.clone())
    }

    async fn give(guard: Self) -> Outcome<()> {
        guard.run(1).await
    }
}

impl<const WAITS: bool> Handed for Plain<WAITS> {
    const HANDOFF: [&str; 2] = ["handoff-pg-plain", "handoff-pg-plain-second"];
}

impl<const WAITS: bool> Plain<WAITS> {
    async fn run(&self, statement: usize) -> Outcome<()> {
        let statement = &self.statements[statement];
        let row = self.client.query_one(statement, &[&self.key]).await?;
        match row.get(0) {
            true => Ok(()),
            false => Err("somebody else has what nobody else wants".into()),
        }
    }
}

/// A connection of a pool for each lock that is held.
#[derive(Clone, Debug)]
pub(super) struct Sqlx {
    pool: PgPool,
    lock: Arc<PgAdvisoryLock>,
}

impl Kind for Sqlx {
    type Guard = PgAdvisoryLockGuard<PoolConnection<sqlx::Postgres>>;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let pool = PgPoolOptions::new()
            .max_connections(names.try_into()?)
            .test_before_acquire(false);
        let pool = pool.connect(url).await?;
        let one = |number| Self {
            pool: pool.clone(),
            lock: Arc::new(PgAdvisoryLock::new(name(number))),
        };
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.lock.acquire(self.pool.acquire().await?).await?)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        guard.release_now().await?;
        Ok(())
    }
}

impl Handed for Sqlx {
    const HANDOFF: [&str; 2] = ["handoff-pg-sqlx", "handoff-pg-sqlx-second"];
}

/// A connection of a pool for each lock that is held; the pool is its own, and has ten.
#[derive(Clone)]
pub(super) struct DistributedLockPostgres(Arc<TheirLock>);

type TheirLock = <PostgresLockProvider as LockProvider>::Lock;

impl Kind for DistributedLockPostgres {
    type Guard = <TheirLock as DistributedLock>::Handle;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let provider = PostgresLockProvider::new(url).await?;
        let one = |number| Self(Arc::new(provider.create_lock(&name(number))));
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.0.acquire(None).await?)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        Ok(guard.release().await?)
    }
}

impl Handed for DistributedLockPostgres {
    const HANDOFF: [&str; 2] = ["handoff-pg-dlp", "handoff-pg-dlp-second"];
}
