//! Locks in Redis, each by its own crate.

use crate::{
    cell::Outcome,
    cells::served::{Kind, name},
};
use ::redis::{Client, Script, aio::MultiplexedConnection};
use async_redis_lock::{Locker, Options};
use distributed_lock_core::traits::{DistributedLock, LockHandle, LockProvider};
use distributed_lock_redis::RedisLockProvider;
use redlock::RedLock;
use rslock::LockManager;
use std::{sync::Arc, time::Duration};
use tokio::task::spawn_blocking;

/// How long each is granted for: as by lockwork.
const LEASE: Duration = Duration::from_secs(30);
const LEASE_MILLIS: u16 = 30_000;

/// The least there is: one connection, `SET NX PX`, and a script that deletes what is still ours.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    connection: MultiplexedConnection,
    give: Arc<Script>,
    key: String,
}

/// Whom a lock belongs to.
const OWNER: &str = "0123456789abcdef0123456789abcdef";

const GIVE: &str =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end";

impl Kind for Plain {
    type Guard = Self;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let connection = Client::open(url)?
            .get_multiplexed_async_connection()
            .await?;
        let give = Arc::new(Script::new(GIVE));
        let one = |number| Self {
            connection: connection.clone(),
            give: give.clone(),
            key: format!("plain:{}", name(number)),
        };
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self> {
        let mut lock = self.clone();
        let mut take = ::redis::cmd("SET");
        take.arg(&self.key).arg(OWNER);
        take.arg("NX").arg("PX").arg(LEASE_MILLIS);
        let had: bool = take.query_async(&mut lock.connection).await?;
        match had {
            true => Ok(lock),
            false => Err(taken()),
        }
    }

    async fn give(mut guard: Self) -> Outcome<()> {
        let mut give = guard.give.key(&guard.key);
        let given: Option<u8> = give.arg(OWNER).invoke_async(&mut guard.connection).await?;
        given.map(drop).ok_or_else(taken)
    }
}

fn taken() -> Box<dyn std::error::Error + Send + Sync> {
    "somebody else has what nobody else wants".into()
}

#[derive(Clone, Debug)]
pub(super) struct Rslock {
    locks: LockManager,
    name: String,
}

impl Kind for Rslock {
    type Guard = rslock::LockGuard;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let locks = LockManager::new(vec![url]);
        let one = |number| Self {
            locks: locks.clone(),
            name: format!("rslock:{}", name(number)),
        };
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.locks.acquire(self.name.as_str(), LEASE).await?)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        guard.release().await;
        Ok(())
    }
}

/// Locks on a thread, because its calls wait: each of them opens a connection.
#[derive(Clone, Debug)]
pub(super) struct Redlock {
    locks: Arc<RedLock>,
    name: String,
}

/// What it needs to know to give a lock back: its own guard borrows.
#[derive(Debug)]
pub(super) struct RedlockHeld {
    locks: Arc<RedLock>,
    resource: Vec<u8>,
    val: Vec<u8>,
}

impl Kind for Redlock {
    type Guard = RedlockHeld;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let locks = Arc::new(RedLock::new(vec![url]));
        let one = |number| Self {
            locks: locks.clone(),
            name: format!("redlock:{}", name(number)),
        };
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        let Self { locks, name } = self.clone();
        let taking = spawn_blocking(move || {
            let taken = locks.lock(name.as_bytes(), LEASE_MILLIS.into())?;
            let taken = taken.map(|lock| (lock.resource, lock.val));
            Outcome::Ok(taken.map(|(resource, val)| RedlockHeld {
                resource,
                val,
                locks: locks.clone(),
            }))
        });
        taking.await??.ok_or_else(taken)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        let giving = spawn_blocking(move || {
            guard.locks.unlock(&redlock::Lock {
                resource: guard.resource,
                val: guard.val,
                validity_time: 0,
                lock_manager: &guard.locks,
            });
        });
        Ok(giving.await?)
    }
}

#[derive(Clone)]
pub(super) struct DistributedLockRedis(Arc<TheirLock>);

type TheirLock = <RedisLockProvider as LockProvider>::Lock;

impl Kind for DistributedLockRedis {
    type Guard = <TheirLock as DistributedLock>::Handle;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let provider = RedisLockProvider::builder().url(url).build().await?;
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

#[derive(Clone)]
pub(super) struct AsyncRedisLock {
    locker: Locker,
    name: String,
}

impl Kind for AsyncRedisLock {
    type Guard = async_redis_lock::Lock;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let locker = Locker::from_redis_url(url).await?;
        let one = |number| Self {
            locker: locker.clone(),
            name: format!("arl:{}", name(number)),
        };
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        let options = Options::new().ttl(LEASE).extend(LEASE / 3);
        let taking = self.locker.acquire_with_options(&options, &self.name);
        Ok(taking.await?)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        Ok(guard.release().await?)
    }
}
