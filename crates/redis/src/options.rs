//! Where the servers are, and how locks live there.

use crate::{Redis, RedisQuorum, errors};
use lockwork_core::lock::{Compat, Error, ErrorKind, Result};
use redis::{
    ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, TlsCertificates, io::tcp::TcpSettings,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use std::{fmt, time::Duration};

/// How to reach Redis, and how to use it otherwise than usual.
///
/// ```no_run
/// use lockwork_core::lock::Locks;
/// use lockwork_redis::Options;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let options = Options::new("redis.example.com", 6379).login("app", "secret");
/// let locks = Locks::new(options.connect().await?);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Options {
    pub(crate) servers: Vec<(String, u16)>,
    pub(crate) deployment: Deployment,
    user: Option<String>,
    password: Option<String>,
    database: i64,
    tls: Option<TlsCertificates>,
    pub(crate) lease: Duration,
    pub(crate) prefix: String,
    pub(crate) compat: Compat,
}

/// How several servers belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deployment {
    /// There is one.
    One,
    /// They are nodes of one cluster.
    Cluster,
    /// They know nothing of each other, and most of them decide.
    Quorum,
    /// They are sentinels, which know where the primary of this name is.
    Sentinel(String),
}

/// For so long a lock is granted unless it is renewed.
const LEASE: Duration = Duration::from_secs(30);

/// A shorter one would end by a hiccup of the network.
pub(crate) const SHORTEST_LEASE: Duration = Duration::from_millis(500);

/// A longer one is no lease any more.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_hours(365 * 24);

impl Options {
    /// One server.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self::of(vec![(host.into(), port)], Deployment::One)
    }

    /// A cluster, of which these are some nodes.
    #[must_use]
    pub fn cluster(nodes: Vec<(String, u16)>) -> Self {
        Self::of(nodes, Deployment::Cluster)
    }

    /// The primary that these sentinels know by `name`.
    #[must_use]
    pub fn sentinel(sentinels: Vec<(String, u16)>, name: impl Into<String>) -> Self {
        Self::of(sentinels, Deployment::Sentinel(name.into()))
    }

    /// Servers that know nothing of each other, of which a majority decides.
    #[must_use]
    pub fn quorum(servers: Vec<(String, u16)>) -> Self {
        Self::of(servers, Deployment::Quorum)
    }

    fn of(servers: Vec<(String, u16)>, deployment: Deployment) -> Self {
        Self {
            servers,
            deployment,
            user: None,
            password: None,
            database: 0,
            tls: None,
            lease: LEASE,
            prefix: "lockwork".to_owned(),
            compat: Compat::None,
        }
    }

    /// As whom to connect.
    #[must_use]
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self.password = Some(password.into());
        self
    }

    /// The password of the default user.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Which database of the server. Default: 0, the only one of a cluster.
    #[must_use]
    pub const fn database(mut self, number: u32) -> Self {
        self.database = number as i64;
        self
    }

    /// Encrypts, and trusts only servers with a certificate of `authority`, in PEM, or else of the
    /// authorities of the system. `identity` is a certificate of ours and its key, in PEM.
    #[must_use]
    pub fn tls(mut self, authority: Option<Vec<u8>>, identity: Option<(Vec<u8>, Vec<u8>)>) -> Self {
        self.tls = Some(TlsCertificates {
            root_cert: authority,
            client_tls: identity.map(|(client_cert, client_key)| ClientTlsConfig {
                client_cert,
                client_key,
            }),
        });
        self
    }

    /// For how long a lock is granted, unless it is renewed, which happens at a third of that.
    /// Default: 30 s; 500 ms at least. A lock may wish for another time.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// What all keys and channels begin with. Default: `lockwork`.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Whose names to share. Default: nobody's. With those of .NET's DistributedLock there are no tokens,
    /// no upgradeable readers and no order among those who wait, who ask again and again.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Connects.
    ///
    /// Questions of tasks on the runtime that this is called on stay there; those of others go by
    /// lockwork's own thread, and so do all once that runtime has ended.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) if the server cannot be reached within five seconds,
    /// [`Denied`](ErrorKind::Denied) if it refuses us, is a replica or too old;
    /// [`Invalid`](ErrorKind::Invalid) if an option is wrong. The sentence says what to do.
    pub async fn connect(self) -> Result<Redis> {
        self.check()?;
        Redis::connect_to(self).await
    }

    /// Connects to several servers that know nothing of each other; most of them have to be there.
    ///
    /// # Errors
    /// As [`Options::connect`]; [`Invalid`](ErrorKind::Invalid) with fewer than three servers.
    pub async fn connect_quorum(self) -> Result<RedisQuorum> {
        self.check()?;
        RedisQuorum::connect_to(&self).await
    }

    /// Each of the servers alone.
    pub(crate) fn each(&self) -> Vec<Self> {
        let alone = |server: &(String, u16)| Self {
            servers: vec![server.clone()],
            deployment: Deployment::One,
            ..self.clone()
        };
        self.servers.iter().map(alone).collect()
    }

    fn check(&self) -> Result<()> {
        let plain = |c: char| c.is_ascii_graphic() && !"{}*?[]\\".contains(c);
        let message = if self.prefix.is_empty() || !self.prefix.chars().all(plain) {
            "a prefix is one visible ASCII character at least, and has none of {}*?[]\\ in it"
        } else if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&self.lease) {
            "a lease is half a second at least, and a year at most"
        } else if self.deployment == Deployment::Cluster && self.database != 0 {
            "a Redis cluster has one database only: leave the number at the end of the URL away"
        } else if self.compat != Compat::None && self.deployment == Deployment::Cluster {
            "the keys of a .NET read/write lock are in two slots of a cluster: leave compat away"
        } else if self.servers.is_empty() {
            "there is no server in the list"
        } else if !self.tls.as_ref().is_none_or(has_certificates) {
            let (kind, message) = errors::unusable_files();
            return Err(Error::new(kind, message));
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Invalid, message))
    }

    pub(crate) const fn certificates(&self) -> Option<&TlsCertificates> {
        self.tls.as_ref()
    }

    pub(crate) fn address(&self, (host, port): &(String, u16)) -> ConnectionAddr {
        match self.tls {
            None => ConnectionAddr::Tcp(host.clone(), *port),
            Some(_) => ConnectionAddr::TcpTls {
                host: host.clone(),
                port: *port,
                insecure: false,
                tls_params: None,
            },
        }
    }

    /// How to connect to one of the servers.
    pub(crate) fn connection(&self, server: &(String, u16)) -> Result<ConnectionInfo> {
        let info = self.address(server).into_connection_info();
        let info = info.map_err(errors::refused)?;
        Ok(info
            .set_tcp_settings(tcp())
            .set_redis_settings(self.session()))
    }

    /// What a connection says first.
    pub(crate) fn session(&self) -> RedisConnectionInfo {
        let mut session = RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP3)
            .set_db(self.database)
            // Not every server knows it, and not every user may.
            .set_skip_set_lib_name();
        if let Some(user) = &self.user {
            session = session.set_username(user);
        }
        if let Some(password) = &self.password {
            session = session.set_password(password);
        }
        session
    }
}

/// Whether there is one in each file that is to have some: the driver does without those that are
/// missing.
fn has_certificates(tls: &TlsCertificates) -> bool {
    let ours = tls.client_tls.as_ref().map(|ours| &ours.client_cert);
    let mut files = [tls.root_cert.as_ref(), ours].into_iter().flatten();
    files.all(|file| matches!(CertificateDer::pem_slice_iter(file).next(), Some(Ok(_))))
}

/// A small question is sent at once.
pub(crate) fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

/// Without the password.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("servers", &self.servers)
            .field("deployment", &self.deployment)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("tls", &self.tls.is_some())
            .field("lease", &self.lease)
            .field("prefix", &self.prefix)
            .field("compat", &self.compat)
            .finish_non_exhaustive()
    }
}
