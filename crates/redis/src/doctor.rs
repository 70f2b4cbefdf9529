//! Whether locks are safe on this server.

use crate::about::About;
use lockwork_core::lock::{Error, Finding, Report, Severity};

pub(crate) fn read(about: &About) -> Report {
    let findings = [
        eviction(about),
        persistence(about),
        replicas(about),
        memory(about),
    ];
    Report::new(findings.into_iter().flatten().collect())
}

pub(crate) fn best_effort() -> Finding {
    Finding::new(
        Severity::Note,
        "a quorum of servers grants locks by their clocks and ours, and gives no tokens",
        "keep what the locks protect where it can be fenced otherwise",
    )
}

pub(crate) fn away(servers: &[(String, u16)], error: &Error) -> Finding {
    let server: Vec<_> = servers
        .iter()
        .map(|(host, port)| format!("{host}:{port}"))
        .collect();
    Finding::new(
        Severity::Warning,
        format!("{} cannot be asked: {error}", server.join(",")),
        "see to it that it runs: with fewer than half of them nothing can be locked",
    )
}

fn eviction(about: &About) -> Option<Finding> {
    let policy = about.get("maxmemory_policy")?;
    (policy != "noeviction").then(|| {
        let limited = about.number("maxmemory").unwrap_or_default() > 0;
        Finding::new(
            match limited {
                true => Severity::Unsafe,
                false => Severity::Warning,
            },
            format!(
                "maxmemory-policy is {policy}: where memory is short, locks are removed while they \
                 are held, and with them the last tokens"
            ),
            "set maxmemory-policy noeviction, or give locks a server of their own",
        )
    })
}

fn persistence(about: &About) -> Option<Finding> {
    match about.get("aof_enabled")? {
        "1" => Some(Finding::new(
            Severity::Note,
            "there is an append-only file; with appendfsync everysec a crash forgets the locks of the \
             last second",
            "set appendfsync always if nothing else keeps what the locks protect safe",
        )),
        _ => Some(Finding::new(
            Severity::Warning,
            "there is no append-only file: a server that is restarted has forgotten all locks, and \
             grants them while their holders may not know it yet",
            "set appendonly yes and appendfsync always, or have the tokens checked",
        )),
    }
}

fn replicas(about: &About) -> Option<Finding> {
    let replicas = about.number("connected_slaves")?;
    (replicas > 0).then(|| {
        Finding::new(
            Severity::Warning,
            format!(
                "there are {replicas} replicas, which hear of a lock after its holder does: after a \
                 failover a lock can be granted twice, and a token too"
            ),
            "let what the locks protect check tokens, or keep it where it can be fenced",
        )
    })
}

/// Where a tenth is left.
fn memory(about: &About) -> Option<Finding> {
    let (used, limit) = (about.number("used_memory")?, about.number("maxmemory")?);
    (limit > 0 && used > limit / 10 * 9).then(|| {
        Finding::new(
            Severity::Warning,
            "more than nine tenths of maxmemory are in use: soon no lock can be taken",
            "raise maxmemory, or find what fills it",
        )
    })
}
