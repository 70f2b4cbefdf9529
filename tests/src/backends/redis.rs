//! Redis: a real server, on which each case has keys, a channel and a user of its own, with no more
//! rights than the documentation asks for.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, redis::Options};
use redis::{Cmd, Connection, FromRedisValue};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Where the server is, and as whom users can be made there.
const SERVER: &str = "LOCKWORK_REDIS_URL";

/// Short enough to see them end, long enough for a busy machine to renew them.
const LEASE: Duration = Duration::from_secs(2);

/// What a user may do, as the documentation of `lockwork-redis` has it.
const RIGHTS: &str = include_str!("../../../crates/redis/acl.txt");

struct Corner {
    administrator: Mutex<Connection>,
    host: String,
    port: u16,
    /// What everything of this case begins with; also who its user is.
    name: String,
}

/// Locks on the server that `LOCKWORK_REDIS_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn start() -> Started {
    let url = std::env::var(SERVER)
        .map_err(|_| format!("{SERVER} names no server; `cargo xtask test` starts one"))?;
    let client = redis::Client::open(url).map_err(|error| error.to_string())?;
    let (host, port) = match client.get_connection_info().addr() {
        redis::ConnectionAddr::Tcp(host, port) => (host.clone(), *port),
        _ => return Err(format!("{SERVER} is to be without TLS")),
    };
    let connection = client.get_connection().map_err(|error| error.to_string())?;
    let corner = Corner {
        administrator: Mutex::new(connection),
        host,
        port,
        name: format!("lockwork:{:016x}", rand::random::<u64>()),
    };
    let rights = RIGHTS.replace("lockwork:*", &format!("{}:*", corner.name));
    let mut user = redis::cmd("ACL");
    user.arg("SETUSER").arg(&corner.name).arg("reset");
    user.arg("on").arg(">secret");
    for right in rights.split_whitespace() {
        user.arg(right);
    }
    corner.tell(&user);
    Ok(Arc::new(corner))
}

impl Corner {
    fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let mut administrator = self.administrator.lock().expect("no panic under this lock");
        let said = command.query(&mut *administrator);
        said.expect("the server does as it is told")
    }

    fn tell(&self, command: &Cmd) {
        self.ask::<redis::Value>(command);
    }

    /// The keys of this case.
    fn keys(&self) -> Vec<String> {
        self.ask(redis::cmd("KEYS").arg(format!("{}:*", self.name)))
    }

    fn holders(&self, key: &str) -> usize {
        let kind: String = self.ask(redis::cmd("TYPE").arg(key));
        match kind.as_str() {
            "zset" => self.ask(redis::cmd("ZCARD").arg(key)),
            _ => 1,
        }
    }
}

impl Harness for Corner {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let options = Options::new(&self.host, self.port)
                .login(&self.name, "secret")
                .prefix(&self.name)
                .lease(LEASE);
            Ok(Locks::with_tenure(options.connect().await?, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        let Self {
            host, port, name, ..
        } = self;
        let user = name.replace(':', "%3A");
        let lease = LEASE.as_millis();
        Some(format!(
            "redis://{user}:secret@{host}:{port}?prefix={user}&lease={lease}ms"
        ))
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            for key in self.keys() {
                self.tell(redis::cmd("DEL").arg(key));
            }
        }))
    }

    /// What a script publishes is refused, which it does not mind.
    fn mute(&self) {
        let mut user = redis::cmd("ACL");
        self.tell(user.arg("SETUSER").arg(&self.name).arg("-publish"));
    }

    fn residue(&self) -> Option<Residue> {
        let keys = self.keys();
        let held = keys.iter().filter(|key| key.ends_with('}'));
        let lines = keys.iter().filter(|key| key.ends_with(":q"));
        Some(Residue {
            locks: held.map(|key| self.holders(key)).sum(),
            waiters: lines.count(),
        })
    }

    fn promises(&self, _: Promise) -> bool {
        true
    }

    fn takeover(&self) -> Duration {
        LEASE + Duration::from_secs(1)
    }

    fn notice(&self) -> Duration {
        LEASE
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
        for key in self.keys() {
            self.tell(redis::cmd("DEL").arg(key));
        }
    }
}
