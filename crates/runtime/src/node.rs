//! This node, as others see it: it says now and then that it lives, and knows by the answer whether it can work.

use crate::{clock::lock, cluster::Cluster, runner::Runner, store::NodeRow};
use lockwork_core::workflow::{Result, Time};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a node that is dead is remembered.
const REMEMBERED: Duration = Duration::from_secs(86_400);

/// Of how many instances at most it says that it runs them.
const NAMED: usize = 32;

/// Whether a node can do what it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It cannot, and this is why. It goes on by itself when that is over.
    NotReady(String),
}

/// What a node says of itself, and what it heard.
#[derive(Debug)]
pub(crate) struct Node {
    name: String,
    cluster: Arc<dyn Cluster>,
    heard: Mutex<Heard>,
}

#[derive(Debug)]
enum Heard {
    Nothing,
    Good(Instant),
    Bad(String),
}

impl Node {
    pub(crate) const fn new(name: String, cluster: Arc<dyn Cluster>) -> Self {
        let heard = Mutex::new(Heard::Nothing);
        Self {
            name,
            cluster,
            heard,
        }
    }

    /// What goes around parts of this node.
    pub(crate) fn cluster(&self) -> &dyn Cluster {
        &*self.cluster
    }

    /// Whether it can work, as far as it knows. Asks nobody.
    pub(crate) fn readiness(&self, runner: &Runner) -> Readiness {
        let why = match &*lock(&self.heard) {
            Heard::Nothing => "it was not started".to_owned(),
            Heard::Bad(error) => error.clone(),
            Heard::Good(at) if at.elapsed() > runner.hold => {
                "the store or the lock server does not answer".to_owned()
            }
            Heard::Good(_) if runner.bursts.is_closed() => {
                "it is paused or about to end".to_owned()
            }
            Heard::Good(_) => return Readiness::Ready,
        };
        Readiness::NotReady(why)
    }

    /// Says that it lives until `stop`, and then that it does not.
    pub(crate) async fn live(self: Arc<Self>, runner: Arc<Runner>, stop: CancellationToken) {
        let since = runner.clock.now();
        self.forget_others(&runner, since).await;
        loop {
            self.say(&runner, since, runner.held_until()).await;
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(runner.hold / 3) => {}
            }
        }
        self.say(&runner, since, runner.clock.now()).await;
    }

    async fn say(&self, runner: &Runner, since: Time, until: Time) {
        let node = NodeRow {
            name: self.name.clone(),
            beat: runner.clock.now(),
            bursts: runner.bursts.count(),
            running: runner.bursts.running().into_iter().take(NAMED).collect(),
            since,
            until,
        };
        let said = async {
            self.cluster.check(&self.name).await?;
            runner.store.beat(node).await?;
            self.look_for_ends(runner).await
        };
        *lock(&self.heard) = match said.await {
            Ok(()) => Heard::Good(Instant::now()),
            Err(error) => {
                tracing::warn!(node = self.name, %error, "this node is not ready: trying again");
                Heard::Bad(error.to_string())
            }
        };
    }

    /// What others want ended ends at its next step.
    async fn look_for_ends(&self, runner: &Runner) -> Result<()> {
        let running = runner.bursts.running();
        if running.is_empty() {
            return Ok(());
        }
        for instance in runner.store.to_be_ended(&running).await? {
            runner.bursts.cancel(&instance);
        }
        Ok(())
    }

    async fn forget_others(&self, runner: &Runner, now: Time) {
        let kept = i64::try_from(REMEMBERED.as_millis()).unwrap_or(i64::MAX);
        let before = Time::from_millis(now.as_millis().saturating_sub(kept));
        if let Err(error) = runner.store.forget_nodes(before).await {
            tracing::warn!(%error, "nodes that are gone could not be forgotten: trying again at the next start");
        }
    }
}
