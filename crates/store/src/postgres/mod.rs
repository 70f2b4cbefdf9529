//! A store in a PostgreSQL database, for many nodes.
//!
//! ```no_run
//! # async fn example() -> lockwork_core::workflow::Result<()> {
//! use lockwork_store::postgres::PostgresStore;
//!
//! let store = PostgresStore::connect("postgres://app:secret@db.example.com/app?schema=lockwork&pool=16").await?;
//! # Ok(())
//! # }
//! ```
//!
//! | option | | unless said otherwise |
//! |---|---|---|
//! | `schema` | where the tables and functions are | `lockwork` |
//! | `pool` | how many connections there are at most, besides one that listens | `16` |
//! | `deadline` | how long the server may take for one statement | `30s` |
//! | `sslmode` | `verify-full`, `verify-ca`, `require`, `prefer`, `allow`, `disable` | `prefer` to this machine, else `verify-full` |
//! | `sslrootcert` | a file: the authority to trust besides those of the system; `require` is `verify-ca` with it, and no `sslmode` is `verify-full` | |
//! | `sslcert`, `sslkey` | files: our certificate and its key | none |
//!
//! Each operation is one statement, in a transaction of its own. Nothing is left on the connection in between, so a
//! pooler in transaction mode may stand before the server if it keeps prepared statements (PgBouncer from 1.21 on, with
//! `max_prepared_statements`). What other nodes tell is not heard through it: connect to the server itself, or work
//! waits for up to a second until it is found.

mod bell;
mod check;
mod commit;
mod definitions;
pub(crate) mod doctor;
mod errands;
mod errors;
mod fire;
mod instances;
mod jobs;
mod letters;
mod nodes;
mod options;
mod pool;
mod rows;
mod schema;
mod send;
mod statements;
mod stimuli;
mod text;
mod tls;
mod together;
mod within;

pub use options::Options;
pub use within::{Within, within};

use bell::Bell;
use commit::{Claiming, Committing};
use errors::Trouble;
use instances::Creating;
use lockwork_core::workflow::{Answer, Result};
use pool::{Operation, Pool};
use sqlx::Connection;
use statements::Statements;
use std::{fmt, sync::Arc};
use together::{Line, Ways, half_way};

/// A store in a PostgreSQL database. Nodes that connect to the same schema share it.
pub struct PostgresStore {
    ways: Arc<Ways>,
    creates: Arc<Line<Creating>>,
    claims: Arc<Line<Claiming>>,
    commits: Arc<Line<Committing>>,
    definitions: Arc<definitions::Cache>,
    options: Options,
}

impl PostgresStore {
    /// Connects to the database that `url` names, makes the schema unless it is there, and looks whether commits count
    /// on that server. [The module](self) has the options.
    ///
    /// # Errors
    /// `Unavailable` if the server cannot be reached; `Denied` if it refuses us, is a standby, or forgets what it has
    /// confirmed; `Unsupported` if a newer version has made the schema; `Invalid` if the URL is wrong: kinds of
    /// [`ErrorKind`](lockwork_core::workflow::ErrorKind). The sentence says what to do.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::with(Options::read(url)?).await
    }

    /// The same, with options.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub async fn with(options: Options) -> Result<Self> {
        options.check()?;
        tls::provide_cryptography();
        let pool = Arc::new(Pool::new(&options));
        let mut connection = pool.open().await.map_err(Trouble::into_error)?;
        check::server(&mut connection).await?;
        schema::ensure(&mut connection, &options).await?;
        // It is gone either way.
        let _ = connection.close().await;
        let sql = Arc::new(Statements::new(&options.quoted_schema()));
        let bell = Arc::new(Bell::new(&options.schema, &pool, &sql));
        Ok(Self {
            ways: Arc::new(Ways { pool, sql, bell }),
            creates: Arc::default(),
            claims: Arc::default(),
            commits: Arc::default(),
            definitions: Arc::default(),
            options,
        })
    }

    /// What an administrator runs where the role may not make a schema: the tables and functions, in plain SQL.
    #[must_use]
    pub fn schema_sql(schema: &str) -> String {
        schema::script(schema)
    }

    /// Tells all nodes, this one too, that there may be something to do: after a transaction that asked for it
    /// [within](within()) itself.
    pub fn ring(&self) {
        self.ways.bell.ring_all();
    }

    /// Closes the connections that are not in use. What is under way goes on.
    pub async fn close(&self) {
        self.ways.pool.close().await;
    }

    /// Does something in a task of its own, which goes on to its end if nobody waits for it any more.
    fn answer<O: Operation>(&self, operation: Result<O>) -> Answer<'_, O::Out> {
        Box::pin(async move {
            let (operation, ways) = (operation?, Arc::clone(&self.ways));
            let doing = tokio::spawn(async move { ways.one(&operation).await });
            doing
                .await
                .unwrap_or_else(|panic| Err(half_way().because(panic)))
        })
    }
}

/// Without how to connect: there is a password in it.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
