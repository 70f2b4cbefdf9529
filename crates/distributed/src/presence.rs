//! A node has a lock of its own for as long as it lives: so it knows whether the lock server can be reached, and no two
//! nodes have one name.

use crate::{error::of_lock, options::DistributedOptions};
use lockwork_core::{
    lock::{Guard, Locks},
    workflow::{Error, ErrorKind, Result},
};
use tokio::sync::Mutex;

/// The lock of this node.
#[derive(Debug, Default)]
pub(crate) struct Presence(Mutex<Option<Guard>>);

impl Presence {
    /// Has it, or takes it anew if it was lost.
    ///
    /// # Errors
    /// What the lock server has to say, or that another node has this name.
    pub(crate) async fn keep(
        &self,
        locks: &Locks,
        options: &DistributedOptions,
        node: &str,
    ) -> Result<()> {
        let mut held = self.0.lock().await;
        if held.as_ref().is_some_and(Guard::is_valid) {
            return Ok(());
        }
        // First of all this lets go of what was lost.
        *held = None;
        let key = format!("workflow-node:{node}");
        let guard = locks.mutex(&key).lock_with(options.at_once()).await;
        *held = guard.map_err(|error| of_lock(error, &key))?;
        match *held {
            Some(_) => Ok(()),
            None => {
                let message = "another node has the name of this one, or died a moment ago: give each its own name";
                Err(Error::new(ErrorKind::Busy, message).with("node", node))
            }
        }
    }

    /// Gives it back.
    pub(crate) async fn end(&self) -> Option<Guard> {
        self.0.lock().await.take()
    }
}
