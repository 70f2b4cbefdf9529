//! Redis: a real server, on which each case has keys, a channel and a user of its own, with no more
//! rights than the documentation asks for.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, redis::Options};
use redis::{Cmd, Connection, FromRedisValue};
use std::{
    any::Any,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// Where the server is, and as whom users can be made there.
pub(super) const SERVER: &str = "LOCKWORK_REDIS_URL";
/// Where the nodes of a cluster are.
const CLUSTER: &str = "LOCKWORK_REDIS_CLUSTER_URL";
/// Where servers are of which a majority decides.
const QUORUM: &str = "LOCKWORK_REDIS_QUORUM_URL";

/// Short enough to see them end, long enough for a busy machine to renew them.
const LEASE: Duration = Duration::from_secs(2);

/// What a user may do, as the documentation of `lockwork-redis` has it.
const RIGHTS: &str = include_str!("../../../crates/redis/acl.txt");
/// What a user of a cluster may do besides.
const RIGHTS_IN_CLUSTER: &str = include_str!("../../../crates/redis/acl-cluster.txt");

struct Corner {
    /// One for each server.
    nodes: Vec<Node>,
    kind: Kind,
    /// What everything of this case begins with; also who its user is.
    name: String,
    /// Lives for as long as this.
    _server: Option<Arc<dyn Any + Send + Sync>>,
}

/// How several servers belong together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    Cluster,
    Quorum,
}

impl Kind {
    fn lease(self) -> Duration {
        match self {
            Self::One | Self::Cluster => LEASE,
            // One of these is waited for no longer than a tenth of a lease.
            Self::Quorum => LEASE * 4,
        }
    }
}

struct Node {
    host: String,
    port: u16,
    administrator: Mutex<Connection>,
}

/// Locks on the server that `LOCKWORK_REDIS_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn start() -> Started {
    Corner::start(SERVER, Kind::One)
}

/// Locks on the cluster that `LOCKWORK_REDIS_CLUSTER_URL` names.
///
/// # Errors
/// If no cluster is named, or a node cannot be reached.
pub fn cluster() -> Started {
    Corner::start(CLUSTER, Kind::Cluster)
}

/// Locks on most of the servers that `LOCKWORK_REDIS_QUORUM_URL` names.
///
/// # Errors
/// If none are named, or one cannot be reached.
pub fn quorum() -> Started {
    Corner::start(QUORUM, Kind::Quorum)
}

/// Locks on a Valkey of this program's own, where one can be had.
///
/// # Errors
/// If none can be had.
#[cfg(unix)]
pub fn valkey() -> Started {
    use lockwork_servers::{Redis, RedisSettings};
    /// It ends with the last case that uses it: nobody drops what is static.
    static SERVER: Mutex<Weak<Redis>> = Mutex::new(Weak::new());
    let mut known = SERVER.lock().expect("no panic under this lock");
    let server = match known.upgrade() {
        Some(server) => server,
        None => {
            let started = Redis::start(RedisSettings::valkey());
            Arc::new(started.map_err(|problem| problem.to_string())?)
        }
    };
    *known = Arc::downgrade(&server);
    let mut corner = Corner::at(&server.url(), Kind::One)?;
    corner._server = Some(server);
    Ok(Arc::new(corner))
}

impl Node {
    /// Of `HOST:PORT`.
    fn new(server: &str) -> std::result::Result<Self, String> {
        let (host, port) = server.rsplit_once(':').ok_or("a server has a port")?;
        let client = redis::Client::open(format!("redis://{server}"));
        let connection = client.and_then(|client| client.get_connection());
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().map_err(|_| "a port is a number")?,
            administrator: Mutex::new(connection.map_err(|error| error.to_string())?),
        })
    }

    fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let mut administrator = self.administrator.lock().expect("no panic under this lock");
        let said = command.query(&mut *administrator);
        said.expect("the server does as it is told")
    }

    fn tell(&self, command: &Cmd) {
        self.ask::<redis::Value>(command);
    }

    fn keys(&self, of: &str) -> Vec<String> {
        self.ask(redis::cmd("KEYS").arg(format!("{of}:*")))
    }

    fn forget(&self, of: &str) {
        for key in self.keys(of) {
            self.tell(redis::cmd("DEL").arg(key));
        }
    }

    fn holders(&self, key: &str) -> usize {
        let kind: String = self.ask(redis::cmd("TYPE").arg(key));
        match kind.as_str() {
            "zset" => self.ask(redis::cmd("ZCARD").arg(key)),
            "string" => usize::from(self.is_held(key)),
            _ => 1,
        }
    }

    /// What is left of a mutex for a while, where somebody may come late, says that nobody has it, or until when.
    fn is_held(&self, key: &str) -> bool {
        let record: Vec<u8> = self.ask(redis::cmd("GET").arg(key));
        let text = String::from_utf8_lossy(&record);
        let Some(record) = text.strip_prefix('+') else {
            return text != "?";
        };
        let end = record.split(' ').nth(2).and_then(|end| end.parse().ok());
        let (seconds, _): (u64, u64) = self.ask(&redis::cmd("TIME"));
        end.is_none_or(|end: u64| end >= seconds * 1_000)
    }

    fn residue(&self, of: &str) -> Residue {
        let keys = self.keys(of);
        let held = keys.iter().filter(|key| key.ends_with('}'));
        let lines = keys.iter().filter(|key| key.ends_with(":q"));
        Residue {
            locks: held.map(|key| self.holders(key)).sum(),
            waiters: lines.count(),
        }
    }
}

impl Corner {
    fn start(variable: &str, kind: Kind) -> Started {
        let url = std::env::var(variable)
            .map_err(|_| format!("{variable} names no server; `cargo xtask test` starts one"))?;
        Ok(Arc::new(Self::at(&url, kind)?))
    }

    fn at(url: &str, kind: Kind) -> std::result::Result<Self, String> {
        let (_, servers) = url.split_once("://").ok_or("a URL has a scheme")?;
        let nodes = servers.split(',').map(Node::new);
        let corner = Self {
            nodes: nodes.collect::<std::result::Result<_, String>>()?,
            kind,
            name: format!("lockwork:{:016x}", rand::random::<u64>()),
            _server: None,
        };
        let rights = RIGHTS.replace("lockwork:*", &format!("{}:*", corner.name));
        let mut user = redis::cmd("ACL");
        user.arg("SETUSER").arg(&corner.name).arg("reset");
        user.arg("on").arg(">secret");
        let more = match kind {
            Kind::Cluster => RIGHTS_IN_CLUSTER,
            Kind::One | Kind::Quorum => "",
        };
        for right in rights.split_whitespace().chain(more.split_whitespace()) {
            user.arg(right);
        }
        corner.tell(&user);
        Ok(corner)
    }

    fn tell(&self, command: &Cmd) {
        for node in &self.nodes {
            node.tell(command);
        }
    }

    fn servers(&self) -> Vec<(String, u16)> {
        let servers = self.nodes.iter();
        servers.map(|node| (node.host.clone(), node.port)).collect()
    }
}

impl Harness for Corner {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let node = &self.nodes[0];
            let options = match self.kind {
                Kind::One => Options::new(&node.host, node.port),
                Kind::Cluster => Options::cluster(self.servers()),
                Kind::Quorum => Options::quorum(self.servers()),
            };
            let options = options
                .login(&self.name, "secret")
                .prefix(&self.name)
                .lease(self.kind.lease());
            Ok(match self.kind {
                Kind::Quorum => Locks::with_tenure(options.connect_quorum().await?, tenure),
                _ => Locks::with_tenure(options.connect().await?, tenure),
            })
        })
    }

    fn url(&self) -> Option<String> {
        let scheme = match self.kind {
            Kind::One => "redis",
            Kind::Cluster => "redis+cluster",
            Kind::Quorum => "redis+quorum",
        };
        let user = self.name.replace(':', "%3A");
        let servers = self.servers().into_iter();
        let servers: Vec<_> = servers
            .map(|(host, port)| format!("{host}:{port}"))
            .collect();
        let (servers, lease) = (servers.join(","), self.kind.lease().as_millis());
        Some(format!(
            "{scheme}://{user}:secret@{servers}?prefix={user}&lease={lease}ms"
        ))
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            for node in &self.nodes {
                node.forget(&self.name);
            }
        }))
    }

    /// What a script publishes is refused, which it does not mind.
    fn mute(&self) {
        let mut user = redis::cmd("ACL");
        self.tell(user.arg("SETUSER").arg(&self.name).arg("-publish"));
    }

    fn residue(&self) -> Option<Residue> {
        let mut all = Residue::default();
        for node in &self.nodes {
            let here = node.residue(&self.name);
            // What a quorum grants is at each of them.
            match self.kind {
                Kind::Quorum => all.locks = all.locks.max(here.locks),
                _ => all.locks += here.locks,
            }
            all.waiters += here.waiters;
        }
        Some(all)
    }

    fn promises(&self, promise: Promise) -> bool {
        // Nobody stands in line at a quorum.
        self.kind != Kind::Quorum
            || matches!(
                promise,
                Promise::NameSpaces | Promise::WholeNames | Promise::KnowsHolders
            )
    }

    /// Each is several calls to several servers.
    fn drops(&self) -> u32 {
        match self.kind {
            Kind::One => 20_000,
            Kind::Cluster | Kind::Quorum => 4_000,
        }
    }

    fn takeover(&self) -> Duration {
        self.kind.lease() + Duration::from_secs(1)
    }

    fn notice(&self) -> Duration {
        self.kind.lease()
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(1200)
    }
}

impl Drop for Corner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let mut user = redis::cmd("ACL");
        self.tell(user.arg("DELUSER").arg(&self.name));
        for node in &self.nodes {
            node.forget(&self.name);
        }
    }
}
