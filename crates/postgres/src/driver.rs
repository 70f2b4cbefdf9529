//! `postgres://USER:PASSWORD@HOST/DATABASE` in URLs.

use crate::{Options, tls};
use lockwork_core::lock::{
    Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
};
use sqlx::postgres::PgConnectOptions;
use std::time::Duration;
use url::Url;

/// Finds a database of locks by URL: `postgres://app@db.example.com/app`.
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `20ms` |
/// | `lease` | after how long without a sign of life the server frees what a process holds | `6s` |
/// | `quota` | how many locks a process may hold and wait for | half of what the server has room for |
/// | `capacity` | how many locks live on one connection | `1000` |
/// | `schema` | where the sequence for tokens is | `lockwork` |
/// | `tokens` | whether grants have tokens; `false` needs no schema | `true` |
/// | `compat` | `medallion` to share locks with .NET's DistributedLock | `none` |
/// | `sslmode` | `verify-full`, `verify-ca`, `require`, `prefer`, `allow`, `disable` | `prefer` to this machine, else `verify-full` |
/// | `sslrootcert`, `sslcert`, `sslkey` | files: the authority to trust, our certificate and its key | those of the system; none |
pub const DRIVER: Driver = Driver {
    schemes: &["postgres", "postgresql"],
    connect: |url| Box::pin(connect(url)),
};

async fn connect(url: Url) -> Result<Locks> {
    let (options, tenure) = read(&url)?;
    Ok(Locks::with_tenure(options.connect().await?, tenure))
}

fn read(url: &Url) -> Result<(Options, Duration)> {
    let mut query = Query::of(url)?;
    let connect = encryption(server(url)?, &mut query)?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    let mut options = Options::new(connect);
    if let Some(lease) = query.duration("lease")? {
        options = options.lease(lease);
    }
    if let Some(quota) = query.option("quota")? {
        options = options.quota(quota);
    }
    if let Some(capacity) = query.option("capacity")? {
        options = options.capacity(capacity);
    }
    if let Some(schema) = query.option::<String>("schema")? {
        options = options.schema(schema);
    }
    if let Some(tokens) = query.option("tokens")? {
        options = options.tokens(tokens);
    }
    if let Some(compat) = query.option("compat")? {
        options = options.compat(compat);
    }
    query.finish()?;
    Ok((options, tenure))
}

/// Where the server is, and as whom to go there.
fn server(url: &Url) -> Result<PgConnectOptions> {
    let mut plain = url.clone();
    plain.set_query(None);
    plain.set_fragment(None);
    // Without the driver's own words, which could repeat what is wrong: a password, say.
    plain.as_str().parse().map_err(|_| {
        let message = "this is not a URL of a PostgreSQL database: write \
                       postgres://user:password@host:5432/database, and %40 for an @ in it";
        Error::new(ErrorKind::Invalid, message)
    })
}

fn encryption(mut connect: PgConnectOptions, query: &mut Query) -> Result<PgConnectOptions> {
    let asked: Option<String> = query.option("sslmode")?;
    let mode = tls::mode(&connect, asked.as_deref())?;
    connect = connect.ssl_mode(mode);
    if let Some(file) = query.option::<String>("sslrootcert")? {
        connect = connect.ssl_root_cert(file);
    }
    if let Some(file) = query.option::<String>("sslcert")? {
        connect = connect.ssl_client_cert(file);
    }
    if let Some(file) = query.option::<String>("sslkey")? {
        connect = connect.ssl_client_key(file);
    }
    Ok(connect)
}
