//! The processes of a server that work for a store, and killing them.

use lockwork_conformance::until;
use lockwork_servers::Postgres;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// Long enough for a server that begins anew.
const ANEW: Duration = Duration::from_secs(30);

/// Kills this process of the server, or another that works for a store, with which all others end; and waits until
/// they have.
pub(crate) async fn kill_one(server: &Postgres, pid: Pid) {
    let before = writer(server);
    let is_killed = |pid| kill_process(pid, Signal::KILL).is_ok();
    // Its connection may have been closed since somebody looked.
    until(ANEW, "one of them is killed", || {
        is_killed(pid) || is_killed(backend(server))
    })
    .await;
    // Somebody whom it has not ended yet would be answered still, and forgotten too.
    until(ANEW, "the server has begun anew", || {
        writer(server).is_some_and(|now| Some(now) != before)
    })
    .await;
}

/// The process that writes the log: another one after the server has begun anew. None while it does.
fn writer(server: &Postgres) -> Option<String> {
    let text = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'";
    server.sql(text).ok().filter(|pid| !pid.trim().is_empty())
}

/// One process of the server that works for a store.
pub(crate) fn backend(server: &Postgres) -> Pid {
    let text = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'lockwork-store/%' \
                ORDER BY state = 'idle' DESC LIMIT 1";
    let pid = server.sql(text).unwrap();
    Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
}
