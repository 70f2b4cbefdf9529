//! The Redis servers of `up`: one alone, three of which a majority decides, a
//! cluster of three, and a primary with its replica. How each is set up and
//! started is in `lockwork_servers`.

use lockwork_servers::redis::{self, setup};
use lockwork_servers::site::Site;

use crate::outcome::{Failure, Outcome};
use crate::services::list::Service;
use crate::services::progress;
use crate::services::url;

/// One alone, with the user who may do the least.
pub(crate) const ALONE: Service = Service {
    name: "redis",
    group: "redis",
    container: "redis",
    variable: "LOCKWORK_REDIS_URL",
    needs: None,
    inside: 6379,
    url: url::redis,
    programs: &[(setup::KIND.program, "redis-server")],
    fetch: None,
    kind: setup::KIND,
    prepare: plain,
    command: |site| Ok(setup::command(site)?),
    join: None,
};

/// Three that know nothing of each other.
pub(crate) const QUORUM: [Service; 3] = [
    voter("redis-quorum-1"),
    voter("redis-quorum-2"),
    voter("redis-quorum-3"),
];

/// Three that share the keys, in one container, where they reach each other by
/// the name they tell clients: 127.0.0.1.
pub(crate) const CLUSTER: [Service; 3] = [
    node("redis-cluster-1", 7001),
    node("redis-cluster-2", 7002),
    node("redis-cluster-3", 7003),
];

/// One that is followed.
pub(crate) const PRIMARY: Service = Service {
    name: "redis-primary",
    group: "redis-primary",
    container: "redis-primary",
    variable: "LOCKWORK_REDIS_PRIMARY_URL",
    url: url::open_redis,
    prepare: plain,
    ..ALONE
};

/// One that follows.
pub(crate) const REPLICA: Service = Service {
    name: "redis-replica",
    group: "redis-replica",
    container: "redis-replica",
    variable: "LOCKWORK_REDIS_REPLICA_URL",
    needs: Some("redis-primary"),
    prepare: follower,
    ..PRIMARY
};

const fn voter(name: &'static str) -> Service {
    Service {
        name,
        group: "redis-quorum",
        container: name,
        variable: "LOCKWORK_REDIS_QUORUM_URL",
        url: setup::quorum_url,
        prepare: plain,
        ..ALONE
    }
}

const fn node(name: &'static str, inside: u16) -> Service {
    Service {
        name,
        group: "redis-cluster",
        container: "redis-cluster",
        variable: "LOCKWORK_REDIS_CLUSTER_URL",
        inside,
        url: setup::cluster_url,
        prepare: member,
        join: Some(join),
        ..ALONE
    }
}

fn plain(site: &Site, _: Option<u16>) -> Outcome<bool> {
    Ok(setup::configure(site, &[])?)
}

fn member(site: &Site, _: Option<u16>) -> Outcome<bool> {
    Ok(setup::configure(site, &setup::node(site)?)?)
}

fn follower(site: &Site, upstream: Option<u16>) -> Outcome<bool> {
    let primary = upstream.ok_or_else(|| {
        Failure::failed("A replica needs its primary; run `cargo xtask up` without names.")
    })?;
    let followed = setup::setting("replicaof", &format!("127.0.0.1 {primary}"));
    Ok(setup::configure(site, &[followed])?)
}

fn join(ports: &[u16]) -> Outcome {
    progress::step("redis-cluster: joining its nodes", redis::AGREE, || {
        // A node that lost its directory is a stranger to the others.
        redis::join(ports).map_err(|problem| {
            Failure::failed(format!(
                "{problem} If it stays so, run `cargo xtask down` and then `cargo xtask up`."
            ))
        })
    })
}
