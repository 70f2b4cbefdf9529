//! Taking and giving back free locks, by one task or by many at once.

use super::{kinds::Kind, server};
use crate::{
    cell::{Outcome, Turns},
    cells::{everything_on_one_thread, time_each},
};
use std::time::Instant;
use tokio::task::JoinSet;

async fn pair<K: Kind>(lock: &K) -> Outcome<()> {
    K::give(lock.take().await?).await
}

/// One task, one name.
pub(super) fn one<K: Kind>() -> Outcome<Turns> {
    let runtime = everything_on_one_thread()?;
    let locks = runtime.block_on(K::several(server::url()?, 1))?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |_| pair(&locks[0]).await)
    }))
}

/// So many tasks on one thread, each with a name of its own.
pub(super) fn many<K: Kind, const TASKS: u64>() -> Outcome<Turns> {
    let runtime = everything_on_one_thread()?;
    let locks = runtime.block_on(K::several(server::url()?, TASKS))?;
    Ok(Box::new(move |operations| {
        let of_each = operations.div_ceil(TASKS);
        let begun = Instant::now();
        runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for lock in &locks {
                let lock = lock.clone();
                tasks.spawn(async move {
                    for _ in 0..of_each {
                        pair(&lock).await?;
                    }
                    Ok(())
                });
            }
            tasks.join_all().await.into_iter().collect::<Outcome<()>>()
        })?;
        let done = of_each * TASKS;
        Ok(vec![begun.elapsed().as_nanos() as f64 / done as f64])
    }))
}
