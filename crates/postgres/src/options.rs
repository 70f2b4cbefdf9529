//! How locks live in a database.

use crate::{Compat, Postgres, PostgresLeases, tls};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::client};
use sqlx::postgres::PgConnectOptions;
use std::{fmt, time::Duration};

/// How to use a database otherwise than usual.
#[derive(Clone)]
pub struct Options {
    pub(crate) connect: PgConnectOptions,
    pub(crate) lease: Option<Duration>,
    pub(crate) quota: Option<usize>,
    pub(crate) capacity: usize,
    pub(crate) schema: String,
    pub(crate) tokens: bool,
    pub(crate) compat: Compat,
}

/// After so long without a sign of life the server frees what a session holds.
const LEASE: Duration = Duration::from_secs(6);

/// For so long a row is granted unless it is renewed.
const ROW_LEASE: Duration = Duration::from_secs(30);

/// A shorter one would end by a hiccup of the network.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// `idle_session_timeout` is a number of milliseconds in 31 bits.
const LONGEST_LEASE: Duration = Duration::from_hours(24 * 24);

/// In seconds, so that wishes that differ by little share a connection.
pub(crate) fn whole(lease: Duration) -> Duration {
    Duration::from_secs(lease.as_secs()).max(SHORTEST_LEASE)
}

impl Options {
    /// A database that is reached as `connect` says.
    #[must_use]
    pub fn new(connect: PgConnectOptions) -> Self {
        let connect = connect
            .application_name(client::name())
            // Poolers refuse what they do not know.
            .extra_float_digits(None);
        Self {
            connect,
            lease: None,
            quota: None,
            capacity: 1000,
            schema: "lockwork".to_owned(),
            tokens: true,
            compat: Compat::None,
        }
    }

    /// After how long without a sign of life the server frees what a process holds: one that is
    /// frozen, or cut off. Until then its guards are good. Whole seconds, at least one. Default: 6 s;
    /// 30 s for [leases](Options::connect_leases). A lock may wish for less.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(whole(lease));
        self
    }

    /// How many locks this process may hold and wait for. Default: half of what the server has room
    /// for.
    #[must_use]
    pub const fn quota(mut self, quota: usize) -> Self {
        self.quota = Some(quota);
        self
    }

    /// How many locks live on one connection before another is opened. Default: 1,000.
    #[must_use]
    pub const fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// The schema with the sequence that tokens come from. Default: `lockwork`.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Whether grants have tokens, which needs the schema. Default: yes.
    #[must_use]
    pub const fn tokens(mut self, tokens: bool) -> Self {
        self.tokens = tokens;
        self
    }

    /// Whose names to share. Default: nobody's.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Connects, and looks whether locks are safe there.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) if the server cannot be reached within five seconds,
    /// [`Denied`](ErrorKind::Denied) if it refuses us or is one on which locks would not hold: a
    /// standby, or behind a pooler in transaction mode; [`Invalid`](ErrorKind::Invalid) if an option
    /// is wrong or there is no such database. The sentence says what to do.
    pub async fn connect(self) -> Result<Postgres> {
        self.check()?;
        tls::provide_cryptography();
        Postgres::connect_to(self).await
    }

    /// Connects for locks that are rows with a lease: the way for poolers in transaction mode, where
    /// [`Options::connect`] is refused. Such locks and those of sessions do not exclude each other.
    ///
    /// Options about sessions mean nothing here: `quota` and `capacity`.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) if the server cannot be reached within five seconds,
    /// [`Denied`](ErrorKind::Denied) if it refuses us or is a standby,
    /// [`Invalid`](ErrorKind::Invalid) with options that leases have no way to heed.
    pub async fn connect_leases(self) -> Result<PostgresLeases> {
        self.check()?;
        if self.schema.contains('$') {
            let message = "a schema with leases has no dollar sign in its name";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        if self.compat != Compat::None || !self.tokens {
            let message = "leases are rows of a table of lockwork's own: leave compat and \
                           tokens=false away, or mode=lease";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        tls::provide_cryptography();
        let time = self.lease.unwrap_or(ROW_LEASE);
        PostgresLeases::connect_to(self, time).await
    }

    /// After how long without a sign of life a session ends.
    pub(crate) fn bears(&self) -> Duration {
        self.lease.unwrap_or(LEASE)
    }

    fn check(&self) -> Result<()> {
        let is_schema = !self.schema.is_empty()
            && self.schema.len() <= 63
            && !self.schema.contains(['\0', '\'', '\\']);
        let message = if !is_schema {
            "a schema has 1 to 63 bytes, and no quote, backslash or zero byte in it"
        } else if self.lease > Some(LONGEST_LEASE) {
            "a lease is at most 24 days, which is how far PostgreSQL counts"
        } else if self.quota == Some(0) || self.capacity == 0 {
            "quota and capacity are one at least"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Invalid, message))
    }

    pub(crate) fn quoted_schema(&self) -> String {
        quoted(&self.schema)
    }

    pub(crate) fn quoted_role(&self) -> String {
        quoted(self.connect.get_username())
    }

    /// The sequence that tokens come from, as it stands in a statement.
    pub(crate) fn sequence(&self) -> String {
        format!("{}.token", self.quoted_schema())
    }
}

/// A name, as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Without how to connect: there is a password in it.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("host", &self.connect.get_host())
            .field("port", &self.connect.get_port())
            .field("database", &self.connect.get_database())
            .field("lease", &self.lease)
            .field("quota", &self.quota)
            .field("capacity", &self.capacity)
            .field("schema", &self.schema)
            .field("tokens", &self.tokens)
            .field("compat", &self.compat)
            .finish_non_exhaustive()
    }
}
