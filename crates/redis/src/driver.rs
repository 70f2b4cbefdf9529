//! `redis://USER:PASSWORD@HOST:PORT/DATABASE` in URLs.

use crate::{Compat, Options, options::Deployment};
use lockwork_core::lock::{
    Connecting, Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
    hosts, is_torn, unescaped,
};
use std::time::Duration;
use url::Url;

/// Finds Redis by URL.
///
/// | URL | |
/// |---|---|
/// | `redis://USER:PASSWORD@HOST:6379/DATABASE` | one server |
/// | `rediss://…` | the same with TLS, as with all of these |
/// | `redis+cluster://HOST:6379,HOST:6379` | a cluster, of which these are some nodes |
/// | `redis+quorum://HOST:6379,HOST:6379,HOST:6379` | servers that know nothing of each other, of which a majority decides: [`RedisQuorum`](crate::RedisQuorum) |
/// | `redis+sentinel://HOST:26379,HOST:26379/NAME/DATABASE` | the primary that these sentinels know by that name |
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `40ms` |
/// | `lease` | for how long a lock is granted unless it is renewed | `30s` |
/// | `prefix` | what all keys and channels begin with | `lockwork` |
/// | `compat` | `medallion` to share locks with .NET's DistributedLock: see [`Compat`] | `none` |
/// | `sslrootcert` | a PEM file: the authority to trust instead of those of the system | |
/// | `sslcert`, `sslkey` | PEM files: our certificate and its key | none |
pub const DRIVER: Driver = Driver {
    schemes: &[
        "redis",
        "rediss",
        "redis+cluster",
        "rediss+cluster",
        "redis+quorum",
        "rediss+quorum",
        "redis+sentinel",
        "rediss+sentinel",
    ],
    connect: connecting,
};

fn connecting(url: Url) -> Connecting {
    Box::pin(connect(url))
}

async fn connect(url: Url) -> Result<Locks> {
    let (options, tenure) = read(&url)?;
    if options.deployment == Deployment::Quorum {
        return Ok(Locks::with_tenure(options.connect_quorum().await?, tenure));
    }
    Ok(Locks::with_tenure(options.connect().await?, tenure))
}

fn read(url: &Url) -> Result<(Options, Duration)> {
    // First: where a password was not escaped, what looks like an option is a part of it.
    let mut options = login(servers(url)?, url)?;
    let mut query = Query::of(url)?;
    if url.scheme().starts_with("rediss") {
        options = encryption(options, &mut query)?;
    }
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    if let Some(lease) = query.duration("lease")? {
        options = options.lease(lease);
    }
    if let Some(prefix) = query.option::<String>("prefix")? {
        options = options.prefix(prefix);
    }
    if let Some(compat) = compat(&mut query)? {
        options = options.compat(compat);
    }
    query.finish()?;
    Ok((options, tenure))
}

fn compat(query: &mut Query) -> Result<Option<Compat>> {
    query.option("compat").map_err(|_| {
        let message = "compat is `none` or `medallion`";
        Error::new(ErrorKind::Invalid, message).with("option", "compat")
    })
}

/// Without the parser's own words, which could repeat what is wrong: a password, say.
fn wrong() -> Error {
    let message = "this is not a URL of a Redis server: write redis://user:password@host:6379/0, and \
                   in a password %40 for an @, %2F for a /, %3F for a ? and %23 for a #";
    Error::new(ErrorKind::Invalid, message)
}

fn servers(url: &Url) -> Result<Options> {
    if is_torn(url) {
        return Err(wrong());
    }
    let (_, kind) = url.scheme().split_once('+').unwrap_or_default();
    let default = if kind == "sentinel" { 26379 } else { 6379 };
    let mut hosts = hosts(url, default).ok_or_else(wrong)?;
    let path = url.path().trim_start_matches('/');
    let (options, database) = match kind {
        "cluster" => (Options::cluster(hosts), path),
        "quorum" => (Options::quorum(hosts), path),
        "sentinel" => {
            let (name, database) = path.split_once('/').unwrap_or((path, ""));
            if name.is_empty() {
                let message = "the URL says which primary the sentinels are asked for: write \
                               redis+sentinel://host:26379/NAME";
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            (Options::sentinel(hosts, name), database)
        }
        _ => {
            let (host, port) = hosts.pop().filter(|_| hosts.is_empty()).ok_or_else(|| {
                let message = "several servers are a cluster, sentinels or a quorum: write \
                               redis+cluster://, redis+sentinel:// or redis+quorum://";
                Error::new(ErrorKind::Invalid, message)
            })?;
            (Options::new(host, port), path)
        }
    };
    match database {
        "" => Ok(options),
        number => Ok(options.database(number.parse().map_err(|_| wrong())?)),
    }
}

fn login(options: Options, url: &Url) -> Result<Options> {
    let Some(password) = url.password() else {
        return match url.username() {
            "" => Ok(options),
            // A user without a password is most likely a password without a colon.
            _ => {
                let message = "the URL has a user and no password: write redis://user:password@host, \
                               or redis://:password@host for the default user";
                Err(Error::new(ErrorKind::Invalid, message))
            }
        };
    };
    let password = decoded(password)?;
    Ok(match url.username() {
        "" => options.password(password),
        user => options.login(decoded(user)?, password),
    })
}

fn decoded(text: &str) -> Result<String> {
    unescaped(text).ok_or_else(wrong)
}

fn encryption(options: Options, query: &mut Query) -> Result<Options> {
    let authority = file(query, "sslrootcert")?;
    let identity = match (file(query, "sslcert")?, file(query, "sslkey")?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            let message = "a certificate and its key go together: give both, sslcert and sslkey";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
    };
    Ok(options.tls(authority, identity))
}

fn file(query: &mut Query, key: &'static str) -> Result<Option<Vec<u8>>> {
    Ok(query.file(key)?.map(|(_, inside)| inside))
}

#[cfg(test)]
mod tests;
