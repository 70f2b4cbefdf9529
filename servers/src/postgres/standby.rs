//! A second server that follows the first and answers questions, but takes no
//! orders: where a client lands that was sent to the wrong address, or where
//! all land after a failover.

use std::time::Duration;

use crate::login::{PASSWORD, USER};
use crate::problem::Outcome;
use crate::run;

use super::{Postgres, setup};

/// How long copying the first server may take.
const COPY: Duration = Duration::from_secs(60);

impl Postgres {
    /// Starts a hot standby of it, with the same settings, and waits until it
    /// lets clients read. `select pg_promote()` there makes it a primary.
    ///
    /// # Errors
    /// If the copy fails or the standby does not start.
    pub fn standby(&self) -> Outcome<Self> {
        let mut standby = Self::at_a_new_place("standby", self.settings.clone())?;
        let site = &standby.site;
        let mut copy = site.account.command(setup::beside("pg_basebackup")?);
        let from = format!(
            "host=127.0.0.1 port={} user={USER} password={PASSWORD}",
            self.port()
        );
        copy.arg("-D")
            .arg(setup::data(site))
            // With standby.signal and primary_conninfo, and not waiting for a
            // checkpoint or the disk.
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"])
            .args(["-d", &from])
            .current_dir(&site.directory);
        run::answer(&mut copy, COPY)?;
        standby.start_somewhere()?;
        Ok(standby)
    }
}
