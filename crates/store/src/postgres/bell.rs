//! Telling other nodes that there is something to do, and hearing it of them.
//!
//! A notification inside of a commit would have all commits wait for one lock of the server. So one goes out after
//! commits, by a connection of its own, and at most one in ten milliseconds. They are hints: what is not heard is found
//! by whoever looks the next time.

use super::{
    errors::Trouble,
    pool::{Operation, Pool},
    statements::{Statements, ask},
    text,
};
use lockwork_core::workflow::StimulusHash;
use sqlx::{
    PgConnection,
    postgres::{PgListener, PgPoolOptions},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::sleep,
};

/// As often as that others are told.
const PAUSE: Duration = Duration::from_millis(10);

/// How long to wait before listening anew, at first and at most.
const ANEW: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// What this node tells, and what it hears.
#[derive(Debug)]
pub(super) struct Bell {
    tells: Arc<Notify>,
    /// Whether this node shall hear it too.
    all: Arc<AtomicBool>,
    hears: watch::Receiver<u64>,
    tasks: [JoinHandle<()>; 2],
}

impl Bell {
    /// For the nodes that share a schema.
    pub(super) fn new(schema: &str, pool: &Arc<Pool>, sql: &Arc<Statements>) -> Self {
        let (tells, all) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let (rings, hears) = watch::channel(0);
        let channel = channel(schema);
        let node = text::drawn();
        let telling = Telling {
            pool: Arc::clone(pool),
            sql: Arc::clone(sql),
            ring: Ring {
                channel: channel.clone(),
                node: node.clone(),
                all: Arc::clone(&all),
            },
        };
        let tasks = [
            tokio::spawn(telling.tell(Arc::clone(&tells))),
            tokio::spawn(listen(Arc::clone(pool), channel, node, rings)),
        ];
        Self {
            tells,
            all,
            hears,
            tasks,
        }
    }

    /// Others have something to do.
    pub(super) fn ring(&self) {
        self.tells.notify_one();
    }

    /// Everybody has, this node too.
    pub(super) fn ring_all(&self) {
        self.all.store(true, Ordering::Relaxed);
        self.tells.notify_one();
    }

    /// What rings from now on.
    pub(super) fn hears(&self) -> watch::Receiver<u64> {
        let mut hears = self.hears.clone();
        hears.mark_unchanged();
        hears
    }
}

/// The name of a channel has 63 bytes, as that of a schema has.
fn channel(schema: &str) -> String {
    let hash = StimulusHash::of("schema", &schema.into(), None);
    let number = hash.map(|hash| hash.number()).unwrap_or_default();
    format!("lockwork_store_{number:032x}")
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

struct Telling {
    pool: Arc<Pool>,
    sql: Arc<Statements>,
    ring: Ring,
}

impl Telling {
    async fn tell(self, told: Arc<Notify>) {
        loop {
            told.notified().await;
            if let Err(error) = self.pool.run(&self.ring, &self.sql).await {
                tracing::debug!(%error, "other nodes were not told that there is something to do: they look by themselves");
            }
            sleep(PAUSE).await;
        }
    }
}

/// One ring.
#[derive(Debug)]
struct Ring {
    channel: String,
    node: String,
    all: Arc<AtomicBool>,
}

impl Operation for Ring {
    type Out = ();

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<(), Trouble> {
        let by = match self.all.swap(false, Ordering::Relaxed) {
            true => "",
            false => &self.node,
        };
        let ring = ask(&sql.ring).bind(&self.channel).bind(by);
        ring.execute(at).await?;
        Ok(())
    }
}

/// For ever. What has rung while nobody listened is not known, so listening anew counts as one.
async fn listen(pool: Arc<Pool>, channel: String, node: String, rings: watch::Sender<u64>) {
    let mut pause = ANEW.0;
    loop {
        let error = match begin(&pool, &channel).await {
            Ok(listener) => {
                pause = ANEW.0;
                rings.send_modify(|count| *count += 1);
                hear(listener, &node, &rings).await
            }
            Err(error) => error,
        };
        tracing::debug!(%error, "other nodes are not heard: listening anew");
        sleep(pause).await;
        pause = (pause * 2).min(ANEW.1);
    }
}

async fn begin(pool: &Pool, channel: &str) -> Result<PgListener, sqlx::Error> {
    let own = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ANEW.1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_lazy_with(pool.options());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.eager_reconnect(false);
    listener.listen(channel).await?;
    Ok(listener)
}

/// Until the connection ends.
async fn hear(mut listener: PgListener, node: &str, rings: &watch::Sender<u64>) -> sqlx::Error {
    loop {
        match listener.try_recv().await {
            Ok(Some(heard)) if heard.payload() == node => {}
            Ok(Some(_)) => rings.send_modify(|count| *count += 1),
            Ok(None) => return sqlx::Error::PoolClosed,
            Err(error) => return error,
        }
    }
}
