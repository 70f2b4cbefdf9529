//! Taking and giving back free locks, by one task or by many at once.

use super::Kind;
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
pub(in crate::cells) fn one<K: Kind>(url: &str) -> Outcome<Turns> {
    let runtime = everything_on_one_thread()?;
    let locks = runtime.block_on(K::several(url, 1))?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |_| pair(&locks[0]).await)
    }))
}

/// So many tasks on one thread, each with a name of its own.
pub(in crate::cells) fn many<K: Kind>(url: &str, tasks: u64) -> Outcome<Turns> {
    let runtime = everything_on_one_thread()?;
    let locks = runtime.block_on(K::several(url, tasks))?;
    Ok(Box::new(move |operations| {
        let of_each = operations.div_ceil(tasks);
        let begun = Instant::now();
        runtime.block_on(async {
            let mut running = JoinSet::new();
            for lock in &locks {
                let lock = lock.clone();
                running.spawn(async move {
                    for _ in 0..of_each {
                        pair(&lock).await?;
                    }
                    Ok(())
                });
            }
            running
                .join_all()
                .await
                .into_iter()
                .collect::<Outcome<()>>()
        })?;
        let done = of_each * tasks;
        Ok(vec![begun.elapsed().as_nanos() as f64 / done as f64])
    }))
}
