//! What a test says about the Redis it wants. Everything has a default: a
//! server for everybody that keeps nothing on disk, on 127.0.0.1.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Redis;

/// How a server of a test differs from the others.
#[derive(Clone, Debug, Default)]
pub struct RedisSettings {
    pub(super) valkey: bool,
    pub(super) acl: Vec<String>,
    pub(super) tls: Option<(PathBuf, PathBuf)>,
    pub(super) client_authority: Option<PathBuf>,
    pub(super) without_plain: bool,
    pub(super) set: Vec<(String, String)>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cluster: bool,
    pub(super) sentinel: bool,
}

impl RedisSettings {
    /// Those of a server for everybody.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, for Valkey in the place of Redis. Where there is none,
    /// starting it fails and says so.
    #[must_use]
    pub fn valkey() -> Self {
        Self {
            valkey: true,
            ..Self::default()
        }
    }

    /// A line of the ACL file, such as `user NAME on >secret ~* &* +@all`. The
    /// default user may be turned off; [`Redis::ask`] has a user of its own.
    #[must_use]
    pub fn acl(mut self, line: &str) -> Self {
        self.acl.push(line.to_owned());
        self
    }

    /// TLS with this certificate and its key, both in PEM, on a port of its
    /// own: [`Redis::tls_port`]. The server gets copies.
    #[must_use]
    pub fn tls(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.tls = Some((certificate.as_ref().into(), key.as_ref().into()));
        self
    }

    /// With TLS, clients need a certificate that this authority signed.
    #[must_use]
    pub fn client_authority(mut self, certificate: impl AsRef<Path>) -> Self {
        self.client_authority = Some(certificate.as_ref().into());
        self
    }

    /// With TLS, there is no port without it: [`Redis::port`] speaks TLS.
    #[must_use]
    pub fn without_plain(mut self) -> Self {
        self.without_plain = true;
        self
    }

    /// Every write is on disk before it is answered.
    #[must_use]
    pub fn durable(self) -> Self {
        self.set("appendonly", "yes").set("appendfsync", "always")
    }

    /// At most so many bytes of data; what happens then is a policy of Redis,
    /// such as `noeviction` or `allkeys-lru`.
    #[must_use]
    pub fn max_memory(self, bytes: u64, policy: &str) -> Self {
        self.set("maxmemory", &bytes.to_string())
            .set("maxmemory-policy", policy)
    }

    /// A setting of Redis, as it would stand in `redis.conf`; it wins over one
    /// of the same name before it.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A variable in the environment of the server.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().into(), value.as_ref().into()));
        self
    }

    /// It follows another server, and takes no writes.
    #[must_use]
    pub fn replica_of(self, primary: &Redis) -> Self {
        let settings = self.set("replicaof", &format!("127.0.0.1 {}", primary.port()));
        match primary.caretaker() {
            Some((user, password)) => settings.set("masteruser", user).set("masterauth", password),
            None => settings,
        }
    }

    /// No server for data, but one that watches others.
    pub(super) fn sentinel(mut self) -> Self {
        self.sentinel = true;
        self
    }

    /// A node of a cluster.
    pub(super) fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }
}
