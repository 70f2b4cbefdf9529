//! What the server tells us by itself: that it is somebody's turn.
//!
//! Every connection has one channel of its own, on which all are told who wait by it. So waiting costs
//! no subscription, nobody hears what is said to others, and whoever waits on the runtime of a
//! connection is told there, without a change of threads.

use crate::{keys, server::Server, things::Question};
use lockwork_core::lock::backend::{Hints, lease::LeaseKeeper};
use redis::{PushInfo, PushKind, Value};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::{Notify, mpsc::UnboundedReceiver};

/// How soon to try again to connect, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// Where one hears what comes on one way.
pub(crate) struct Ears {
    pub(crate) heard: UnboundedReceiver<PushInfo>,
    /// There is a new connection.
    pub(crate) opened: Arc<Notify>,
}

/// Passes on what is told for as long as anybody listens, on the runtime of that way.
pub(crate) struct Inbox {
    ears: Ears,
    prefix: String,
    hints: Hints,
    server: Weak<Server>,
    keeper: Weak<LeaseKeeper<Server>>,
}

impl Inbox {
    pub(crate) fn new(ears: Ears, server: &Arc<Server>, keeper: &Arc<LeaseKeeper<Server>>) -> Self {
        Self {
            ears,
            prefix: server.prefix.clone(),
            hints: server.hints.clone(),
            server: Arc::downgrade(server),
            keeper: Arc::downgrade(keeper),
        }
    }

    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                heard = self.ears.heard.recv() => match heard {
                    None => return,
                    Some(PushInfo { kind: PushKind::Message, data }) => self.tell(&data),
                    Some(PushInfo { kind: PushKind::Disconnection, .. }) => self.reconnect().await,
                    Some(_) => {}
                },
                () = self.ears.opened.notified() => self.catch_up(),
            }
        }
    }

    fn tell(&self, data: &[Value]) {
        // The channel, and what was said there.
        let Some(Value::BulkString(said)) = data.get(1) else {
            return;
        };
        let key = std::str::from_utf8(said).ok();
        if let Some(id) = key.and_then(|key| keys::id_of(&self.prefix, key)) {
            self.hints.hint(&id);
        }
    }

    /// What was said while nobody heard it may have been for anybody; and a server that was started
    /// anew may have forgotten our leases.
    fn catch_up(&self) {
        self.hints.hint_all();
        if let Some(keeper) = self.keeper.upgrade() {
            keeper.renew_all();
        }
    }

    /// Until the server is there again. Without this only those who ask would notice.
    async fn reconnect(&mut self) {
        let mut pause = PAUSES[0];
        loop {
            let Some(server) = self.server.upgrade() else {
                return;
            };
            if server.lines.ask(Question::Ping).await.is_ok() {
                return;
            }
            drop(server);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }
}
