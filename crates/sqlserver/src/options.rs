//! How locks live in a database.

use crate::{Compat, SqlServer, ado};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::client};
use std::{fmt, time::Duration};
use tiberius::Config;

/// How to use a database otherwise than usual.
#[derive(Clone)]
pub struct Options {
    pub(crate) config: Config,
    pub(crate) lease: Duration,
    pub(crate) capacity: usize,
    pub(crate) schema: String,
    pub(crate) principal: String,
    pub(crate) tokens: bool,
    pub(crate) compat: Compat,
}

/// A server frees what a session holds when its probes find the other side gone, and it begins to
/// probe after 30 s (`KeepAlive` in its network configuration). Guards must be over by then.
const LEASE: Duration = Duration::from_secs(15);

/// As that.
const LONGEST_LEASE: Duration = Duration::from_secs(30);

/// A shorter one would end by a hiccup of the network.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// As long as a name may be (`sysname`).
const LONGEST_NAME: usize = 128;

impl Options {
    /// A database that is reached as `config` says.
    #[must_use]
    pub fn new(mut config: Config) -> Self {
        config.application_name(client::name());
        // Whoever asks has a limit of its own for each call, and none for a wait.
        config.handshake_timeout(None);
        config.command_timeout(None);
        Self {
            config,
            lease: LEASE,
            capacity: 1000,
            schema: "lockwork".to_owned(),
            principal: "public".to_owned(),
            tokens: true,
            compat: Compat::None,
        }
    }

    /// A database as a connection string of ADO.NET names it:
    /// `Server=db.example.com,1433;Database=app;User ID=app;Password=secret`.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if a key is unknown or its value not one that lockwork can
    /// heed: MARS, Windows logins, named instances without a port.
    pub fn from_ado(connection_string: &str) -> Result<Self> {
        ado::config(connection_string).map(Self::new)
    }

    /// For how long a guard is good after the server has last been heard of: once a process is cut
    /// off, it knows so after this time. The server itself frees what the process holds when its own
    /// probes have failed, after 30 s and more, so it is at most that. Default: 15 s.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
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

    /// The role whose members may take these locks (`@DbPrincipal`). Locks of two principals do not
    /// exclude each other: all processes must name the same. Default: `public`, so that whoever is
    /// in the database can take any lock.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<String>) -> Self {
        self.principal = principal.into();
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
    /// [`Denied`](ErrorKind::Denied) if it refuses us or its database is read-only,
    /// [`Invalid`](ErrorKind::Invalid) if an option is wrong or there is no such database. The
    /// sentence says what to do.
    pub async fn connect(self) -> Result<SqlServer> {
        self.check()?;
        SqlServer::connect_to(self).await
    }

    fn check(&self) -> Result<()> {
        let is_name = |name: &str| {
            let letters = name.encode_utf16().count();
            (1..=LONGEST_NAME).contains(&letters) && !name.contains('\0')
        };
        let message = if !is_name(&self.schema) || !is_name(&self.principal) {
            "a schema or a principal has 1 to 128 characters"
        } else if self.lease > LONGEST_LEASE {
            "a lease is at most 30 s: after that the server may have freed what a process holds that \
             is cut off"
        } else if self.lease < SHORTEST_LEASE {
            "a lease is at least 1 s: a shorter one would end by a hiccup of the network"
        } else if self.capacity == 0 {
            "the capacity is one at least"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Invalid, message))
    }

    /// The schema, as it stands in a statement.
    pub(crate) fn quoted_schema(&self) -> String {
        quoted(&self.schema)
    }

    /// The sequence that tokens come from, as it stands in a statement.
    pub(crate) fn sequence(&self) -> String {
        format!("{}.[token]", self.quoted_schema())
    }
}

/// A name, as it stands in a statement.
pub(crate) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A text, as it stands in a statement.
pub(crate) fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

/// Without how to log in.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("server", &self.config.get_addr())
            .field("lease", &self.lease)
            .field("capacity", &self.capacity)
            .field("schema", &self.schema)
            .field("principal", &self.principal)
            .field("tokens", &self.tokens)
            .field("compat", &self.compat)
            .finish_non_exhaustive()
    }
}
