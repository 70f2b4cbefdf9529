//! Thousands of locks in one process's hands.

use super::server::{self, client};
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{everything_on_one_thread, served},
};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_postgres::Client;

/// From before the first is asked for to after the last is had.
pub(super) const ALL: Figure = Figure {
    name: "all",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// As the server counts them, while all are held.
pub(super) const CONNECTIONS: Figure = Figure {
    name: "connections",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// How long the server may take to see that clients have left.
const LEFT: Duration = Duration::from_secs(10);

/// Holds as many locks as there are operations, on connections that are new each time.
pub(super) fn at_once() -> Outcome<Turns> {
    let (runtime, url) = (everything_on_one_thread()?, server::url()?);
    let server = runtime.block_on(client(url))?;
    Ok(Box::new(move |operations| {
        runtime.block_on(async {
            nobody_else(&server).await?;
            let locks = lockwork::connect(url).await?;
            let begun = Instant::now();
            let mut tasks = JoinSet::new();
            for number in 0..operations {
                let mutex = locks.mutex(served::name(number));
                tasks.spawn(async move { mutex.lock().await });
            }
            let held = tasks.join_all().await;
            let all = begun.elapsed();
            let held = held.into_iter().collect::<Result<Vec<_>, _>>()?;
            let connections = others(&server).await?;
            drop(held);
            locks.close().await;
            Ok(vec![all.as_nanos() as f64, connections as f64])
        })
    }))
}

/// How many clients the server has but this one.
async fn others(server: &Client) -> Outcome<i64> {
    let text = "SELECT count(*) FROM pg_stat_activity \
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    Ok(server.query_one(text, &[]).await?.get(0))
}

/// Those of the last turn leave a little after it.
async fn nobody_else(server: &Client) -> Outcome<()> {
    let begun = Instant::now();
    while others(server).await? > 0 {
        if begun.elapsed() > LEFT {
            return Err("clients of an earlier turn do not leave the server".into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}
