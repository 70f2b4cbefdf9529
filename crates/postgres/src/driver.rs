//! `postgres://USER:PASSWORD@HOST/DATABASE` in URLs.

use crate::{Options, tls};
use lockwork_core::lock::{
    Connecting, Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
    is_torn,
};
use sqlx::postgres::PgConnectOptions;
use std::{str::FromStr, time::Duration};
use url::Url;

/// Finds a database of locks by URL: `postgres://app@db.example.com/app`.
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `40ms` |
/// | `mode` | `session`: advisory locks. `lease`: rows of a table, for poolers in transaction mode; the two exclude nobody of the other | `session` |
/// | `lease` | after how long without a sign of life the server frees what a process holds | `6s`; `30s` with `mode=lease` |
/// | `quota` | how many locks a process may hold and wait for (`session`) | half of what the server has room for |
/// | `capacity` | how many locks live on one connection (`session`) | `1000` |
/// | `schema` | where the sequence for tokens is, and the table of leases | `lockwork` |
/// | `tokens` | whether grants have tokens; `false` needs no schema (`session`) | `true` |
/// | `compat` | `medallion` to share locks with .NET's DistributedLock (`session`) | `none` |
/// | `sslmode` | `verify-full`, `verify-ca`, `require`, `prefer`, `allow`, `disable` | `prefer` to this machine, else `verify-full` |
/// | `sslrootcert` | a file: the authority to trust besides those of the system; `require` is `verify-ca` with it, and no `sslmode` is `verify-full` | |
/// | `sslcert`, `sslkey` | files: our certificate and its key | none |
pub const DRIVER: Driver = Driver {
    schemes: &["postgres", "postgresql"],
    connect: connecting,
};

fn connecting(url: Url) -> Connecting {
    Box::pin(connect(url))
}

async fn connect(url: Url) -> Result<Locks> {
    let (options, tenure, mode) = read(&url)?;
    Ok(match mode {
        Mode::Session => Locks::with_tenure(options.connect().await?, tenure),
        Mode::Lease => Locks::with_tenure(options.connect_leases().await?, tenure),
    })
}

/// What locks are at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Advisory locks of a session.
    Session,
    /// Rows with a lease.
    Lease,
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "session" => Ok(Self::Session),
            "lease" => Ok(Self::Lease),
            _ => Err(Error::new(
                ErrorKind::Invalid,
                "mode is `session` or `lease`",
            )),
        }
    }
}

fn read(url: &Url) -> Result<(Options, Duration, Mode)> {
    let server = server(url)?;
    let mut query = Query::of(url)?;
    let mode = query
        .value("mode", "`session` or `lease`")?
        .unwrap_or(Mode::Session);
    let connect = encryption(server, &mut query)?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    let mut options = Options::new(connect);
    if let Some(lease) = query.duration("lease")? {
        options = options.lease(lease);
    }
    if let Some(schema) = query.option::<String>("schema")? {
        options = options.schema(schema);
    }
    if mode == Mode::Session {
        options = of_sessions(options, &mut query)?;
    }
    query.finish()?;
    Ok((options, tenure, mode))
}

/// What means nothing to rows with a lease.
fn of_sessions(mut options: Options, query: &mut Query) -> Result<Options> {
    if let Some(quota) = query.value("quota", "a number")? {
        options = options.quota(quota);
    }
    if let Some(capacity) = query.value("capacity", "a number")? {
        options = options.capacity(capacity);
    }
    if let Some(tokens) = query.value("tokens", "`true` or `false`")? {
        options = options.tokens(tokens);
    }
    if let Some(compat) = query.value("compat", "`none` or `medallion`")? {
        options = options.compat(compat);
    }
    Ok(options)
}

/// Where the server is, and as whom to go there.
fn server(url: &Url) -> Result<PgConnectOptions> {
    // Without the driver's own words, which could repeat what is wrong: a password, say.
    let wrong = || {
        let message = "this is not a URL of a PostgreSQL database: write \
                       postgres://user:password@host:5432/database, and in a password %40 for an @, \
                       %2F for a /, %3F for a ? and %23 for a #";
        Error::new(ErrorKind::Invalid, message)
    };
    if is_torn(url) {
        return Err(wrong());
    }
    let mut plain = url.clone();
    plain.set_query(None);
    plain.as_str().parse().map_err(|_| wrong())
}

fn encryption(mut connect: PgConnectOptions, query: &mut Query) -> Result<PgConnectOptions> {
    let asked: Option<String> = query.option("sslmode")?;
    let authority = file(query, "sslrootcert")?;
    let mode = tls::mode(&connect, asked.as_deref(), authority.is_some())?;
    connect = connect.ssl_mode(mode);
    if let Some(file) = authority {
        connect = connect.ssl_root_cert(file);
    }
    if let Some(file) = file(query, "sslcert")? {
        connect = connect.ssl_client_cert(file);
    }
    if let Some(file) = file(query, "sslkey")? {
        connect = connect.ssl_client_key(file);
    }
    Ok(connect)
}

/// A file that can be read: the driver would say of another that the server is out of reach.
fn file(query: &mut Query, key: &'static str) -> Result<Option<String>> {
    Ok(query.file(key)?.map(|(path, _)| path))
}
