//! A second server that follows the first: where reads may go, and where all
//! go after a failover, with what the first one had told it by then.

use crate::problem::Outcome;

use super::waiting::{field, until};
use super::{Redis, RedisSettings};

impl Redis {
    /// Starts a replica of it with the settings given, and waits until that
    /// has everything.
    ///
    /// # Errors
    /// If the replica does not start or does not get there.
    pub fn replica(&self, settings: RedisSettings) -> Outcome<Self> {
        let replica = Self::start(settings.replica_of(self))?;
        replica.in_sync_with(self)?;
        Ok(replica)
    }

    /// Waits until this replica has everything that the primary has now.
    ///
    /// # Errors
    /// If that takes longer than 30 s.
    pub fn in_sync_with(&self, primary: &Self) -> Outcome {
        until("A replica that has everything", || {
            let told = primary.offset("master_repl_offset")?;
            let link = self.ask(&["INFO", "replication"])?;
            let linked = field(&link, "master_link_status") == Some("up");
            let heard = self.offset("slave_repl_offset")?;
            Ok(linked && told.is_some() && heard >= told)
        })
    }

    /// How far it has told, or heard, what is written.
    fn offset(&self, name: &str) -> Outcome<Option<u64>> {
        let text = self.ask(&["INFO", "replication"])?;
        Ok(field(&text, name).and_then(|digits| digits.parse().ok()))
    }
}
