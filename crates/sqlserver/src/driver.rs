//! `sqlserver://USER:PASSWORD@HOST:1433/DATABASE` in URLs.

use crate::Options;
use lockwork_core::lock::{
    Connecting, Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
    hosts, is_torn, unescaped,
};
use std::{path::Path, time::Duration};
use tiberius::{AuthMethod, Config, EncryptionLevel};
use url::Url;

/// Finds a database of locks by URL: `sqlserver://app@db.example.com:1433/app`.
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `40ms` |
/// | `lease` | for how long a guard is good after the server has last been heard of; at most `30s` | `15s` |
/// | `capacity` | how many locks live on one connection | `1000` |
/// | `schema` | where the sequence for tokens is | `lockwork` |
/// | `principal` | the role whose members may take the locks (`@DbPrincipal`) | `public` |
/// | `tokens` | whether grants have tokens; `false` needs no schema | `true` |
/// | `compat` | `medallion` to share locks with .NET's DistributedLock | `none` |
/// | `encrypt` | `strict` (TDS 8.0), `true`, `login` (nothing but the password), `none` | `true` |
/// | `sslrootcert` | a PEM file: the authority to trust besides those of the system | |
/// | `sslname` | the name that the server's certificate is made out to, if it is not the host's | |
/// | `sslcert`, `sslkey` | PEM files: our certificate (`.crt` or `.pem`) and its key (`.key` or `.pem`) | none |
/// | `trust` | `any`, without `sslrootcert`: trust whatever certificate the server has, and whoever is in between | |
pub const DRIVER: Driver = Driver {
    schemes: &["sqlserver", "mssql"],
    connect: connecting,
};

fn connecting(url: Url) -> Connecting {
    Box::pin(connect(url))
}

async fn connect(url: Url) -> Result<Locks> {
    let (options, tenure) = read(&url)?;
    Ok(Locks::with_tenure(options.connect().await?, tenure))
}

fn read(url: &Url) -> Result<(Options, Duration)> {
    let mut config = server(url)?;
    let mut query = Query::of(url)?;
    encryption(&mut config, &mut query)?;
    let mut options = Options::new(config);
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    if let Some(lease) = query.duration("lease")? {
        options = options.lease(lease);
    }
    if let Some(schema) = query.option::<String>("schema")? {
        options = options.schema(schema);
    }
    if let Some(principal) = query.option::<String>("principal")? {
        options = options.principal(principal);
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
    query.finish()?;
    Ok((options, tenure))
}

fn wrong_value(key: &'static str, values: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("{key} is {values}")).with("option", key)
}

/// Where the server is, and as whom to go there.
fn server(url: &Url) -> Result<Config> {
    let wrong = || {
        let message = "this is not a URL of a SQL Server database: write \
                       sqlserver://user:password@host:1433/database, and in a password %40 for an \
                       @, %2F for a /, %3F for a ? and %23 for a #";
        Error::new(ErrorKind::Invalid, message)
    };
    let database = url.path().strip_prefix('/').unwrap_or_default();
    if is_torn(url) || database.contains('/') {
        return Err(wrong());
    }
    let [(host, port)] =
        <[_; 1]>::try_from(hosts(url, 1433).ok_or_else(wrong)?).map_err(|_| wrong())?;
    let plain = |text: &str| unescaped(text).ok_or_else(wrong);
    if url.username().is_empty() || url.password().is_none() {
        let message = "SQL Server lets nobody in without a name and a password: write \
                       sqlserver://user:password@host:1433/database";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    let mut config = Config::new();
    config.host(host);
    config.port(port);
    if !database.is_empty() {
        config.database(plain(database)?);
    }
    let password = plain(url.password().unwrap_or_default())?;
    config.authentication(AuthMethod::sql_server(plain(url.username())?, password));
    Ok(config)
}

fn encryption(config: &mut Config, query: &mut Query) -> Result<()> {
    let level: Option<String> = query.option("encrypt")?;
    config.encryption(match level.as_deref() {
        Some("strict") => EncryptionLevel::Strict,
        None | Some("true") => EncryptionLevel::Required,
        Some("login") => EncryptionLevel::Off,
        Some("none") => EncryptionLevel::NotSupported,
        Some(_) => {
            return Err(wrong_value(
                "encrypt",
                "`strict`, `true`, `login` or `none`",
            ));
        }
    });
    trust(config, query)?;
    let files = (query.file("sslcert")?, query.file("sslkey")?);
    let (certificate, key) = match files {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(()),
        _ => {
            let message = "our certificate needs its key: give both, sslcert and sslkey, in PEM";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
    };
    check(&certificate, CERTIFICATE, ["pem", "crt"], "sslcert")?;
    check(&key, KEY, ["pem", "key"], "sslkey")?;
    config.client_certificate(certificate.0, key.0);
    Ok(())
}

/// Which servers to believe.
fn trust(config: &mut Config, query: &mut Query) -> Result<()> {
    let authority = query.file("sslrootcert")?;
    if let Some(name) = query.option::<String>("sslname")? {
        config.hostname_in_certificate(name);
    }
    let any = match query.option::<String>("trust")?.as_deref() {
        None => false,
        Some("any") => true,
        Some(_) => return Err(wrong_value("trust", "`any`, or left away")),
    };
    match authority {
        Some(_) if any => {
            let message = "who trusts any certificate needs no authority: leave trust=any away, or \
                           else sslrootcert";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Some((_, inside)) => {
            is_pem(&inside, CERTIFICATE, "sslrootcert")?;
            config.trust_cert_ca_bundle(inside);
        }
        None if any => config.trust_cert(),
        None => {}
    }
    Ok(())
}

/// How a certificate in PEM begins, and how a key does, of whatever kind.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
const KEY: &str = "PRIVATE KEY-----";

fn is_pem(inside: &[u8], beginning: &str, option: &'static str) -> Result<()> {
    let is_text_with = |text: &str| text.contains(beginning);
    if std::str::from_utf8(inside).is_ok_and(is_text_with) {
        return Ok(());
    }
    let message =
        format!("there is nothing in this file that begins with {beginning}: it must be PEM");
    Err(Error::new(ErrorKind::Invalid, message).with("option", option))
}

/// The driver reads these files again for each connection, and knows their kind by their names.
fn check(
    (path, inside): &(String, Vec<u8>),
    beginning: &str,
    endings: [&str; 2],
    option: &'static str,
) -> Result<()> {
    is_pem(inside, beginning, option)?;
    let ending = Path::new(path).extension();
    if endings
        .iter()
        .any(|it| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(it)))
    {
        return Ok(());
    }
    let [one, other] = endings;
    let message = format!("the name of this file must end with .{one} or .{other}");
    Err(Error::new(ErrorKind::Invalid, message).with("option", option))
}
