//! `postgres://USER:PASSWORD@HOST/DATABASE` in URLs.

use super::{errors::invalid, tls};
use lockwork_core::workflow::{Error, Result};
use sqlx::postgres::PgConnectOptions;
use std::{collections::BTreeMap, fmt, time::Duration};
use url::Url;

/// What a URL can say besides where the server is.
const KNOWN: [&str; 7] = [
    "schema",
    "pool",
    "deadline",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
];

/// As many connections as bursts that wait for the disk make use of.
const POOL: usize = 16;

/// How long the server may take for one statement.
const DEADLINE: Duration = Duration::from_secs(30);

/// How to use a database as a store.
#[derive(Clone)]
pub struct Options {
    pub(super) connect: PgConnectOptions,
    pub(super) schema: String,
    pub(super) pool: usize,
    pub(super) deadline: Duration,
}

impl Options {
    /// A database that is reached as `connect` says.
    #[must_use]
    pub fn new(connect: PgConnectOptions) -> Self {
        let name = concat!("lockwork-store/", env!("CARGO_PKG_VERSION"));
        Self {
            // Poolers refuse what they do not know.
            connect: connect.application_name(name).extra_float_digits(None),
            schema: "lockwork".to_owned(),
            pool: POOL,
            deadline: DEADLINE,
        }
    }

    /// The schema that everything is in. Default: `lockwork`.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// How many connections there are at most, besides one that listens. Default: 16.
    #[must_use]
    pub const fn pool(mut self, pool: usize) -> Self {
        self.pool = pool;
        self
    }

    /// How long the server may take for one statement. After that nobody knows whether it counts. Default: 30 s.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        let is_schema = !self.schema.is_empty()
            && self.schema.len() <= 63
            && !self.schema.contains(['\0', '\'', '\\', '$', '"']);
        if !is_schema {
            return Err(invalid(
                "a schema has 1 to 63 bytes, and no quote, backslash, dollar sign or zero byte in it",
            ));
        }
        match self.pool == 0 || self.deadline.is_zero() {
            true => Err(invalid("pool is one at least, and deadline is not zero")),
            false => Ok(()),
        }
    }

    pub(super) fn quoted_schema(&self) -> String {
        quoted(&self.schema)
    }

    pub(super) fn read(url: &str) -> Result<Self> {
        // Without the parser's own words, which could repeat what is wrong: a password, say.
        let url = Url::parse(url).map_err(|_| wrong())?;
        let is_torn = [Some(url.path()), url.query()]
            .iter()
            .flatten()
            .any(|part| part.contains('@'));
        if is_torn || url.fragment().is_some() {
            return Err(wrong());
        }
        let mut query = query(&url)?;
        let mut plain = url;
        plain.set_query(None);
        let connect = plain.as_str().parse().map_err(|_| wrong())?;
        let mut options = Self::new(encryption(connect, &mut query)?);
        if let Some(schema) = query.remove("schema") {
            options.schema = schema;
        }
        if let Some(pool) = query.remove("pool") {
            let message = "pool is a number of connections";
            options.pool = pool.parse().map_err(|_| invalid(message))?;
        }
        if let Some(deadline) = query.remove("deadline") {
            options.deadline = length(&deadline)
                .ok_or_else(|| invalid("deadline is a length of time: write 500ms or 30s"))?;
        }
        options.check().map(|()| options)
    }
}

fn wrong() -> Error {
    invalid(
        "this is not a URL of a PostgreSQL database: write postgres://user:password@host:5432/database, and in a \
         password %40 for an @, %2F for a /, %3F for a ? and %23 for a #",
    )
}

/// The options, each given once and known.
fn query(url: &Url) -> Result<BTreeMap<String, String>> {
    let mut query = BTreeMap::new();
    for (key, value) in url.query_pairs() {
        if !KNOWN.contains(&&*key) {
            return Err(invalid("the URL has an unknown option")
                .with("option", key)
                .with("known", KNOWN.join(", ")));
        }
        if query.insert(key.to_string(), value.to_string()).is_some() {
            return Err(invalid("an option of a URL can be given once").with("option", key));
        }
    }
    Ok(query)
}

fn encryption(
    mut connect: PgConnectOptions,
    query: &mut BTreeMap<String, String>,
) -> Result<PgConnectOptions> {
    let authority = file(query, "sslrootcert")?;
    let asked = query.remove("sslmode");
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
fn file(query: &mut BTreeMap<String, String>, key: &'static str) -> Result<Option<String>> {
    let Some(path) = query.remove(key) else {
        return Ok(None);
    };
    match std::fs::File::open(&path) {
        Ok(_) => Ok(Some(path)),
        Err(error) => Err(invalid(
            "this option of the URL names a file that cannot be read: check its path, and who may read it",
        )
        .with("option", key)
        .because(error)),
    }
}

/// `500ms`, `30s` or `2m`.
fn length(text: &str) -> Option<Duration> {
    let digits = text.find(|one: char| !one.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

/// A name, as it stands in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Without how to connect: there is a password in it.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("host", &self.connect.get_host())
            .field("port", &self.connect.get_port())
            .field("database", &self.connect.get_database())
            .field("schema", &self.schema)
            .field("pool", &self.pool)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::workflow::ErrorKind;

    const SECRET: &str = "s3cr3t";

    fn refused(url: &str) -> String {
        let error = Options::read(url).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = format!("{error:?} {error}");
        assert!(!text.contains(SECRET), "{text}");
        text
    }

    #[test]
    fn a_url_says_schema_pool_and_deadline() {
        let url = "postgres://a:b@localhost/db?schema=mine&pool=3&deadline=500ms";
        let options = Options::read(url).expect("options");
        assert_eq!((options.schema.as_str(), options.pool), ("mine", 3));
        assert_eq!(options.deadline, Duration::from_millis(500));
        let shown = format!("{options:?}");
        assert!(!shown.contains(":b@"), "{shown}");
    }

    #[test]
    fn what_is_unknown_is_refused_and_the_known_named() {
        let text = refused("postgres://a:s3cr3t@localhost/db?shcema=x");
        assert!(
            text.contains("known=schema, pool, deadline, sslmode"),
            "{text}"
        );
        refused("postgres://a:s3cr3t@localhost/db?pool=s3cr3t");
        refused("postgres://a:s3cr3t@localhost/db?pool=0");
        refused("postgres://a:s3cr3t@localhost/db?schema=a$b");
        refused("postgres://a:s3cr3t@localhost/db?pool=1&pool=2");
        refused("postgres://a:s3cr3t@localhost/db?sslmode=s3cr3t");
        refused("postgres://a:s3/cr3t@localhost/db");
        refused("postgres://a:s3#cr3t@localhost/db");
        refused("s3cr3t");
    }

    #[test]
    fn only_this_machine_need_not_prove_who_it_is() {
        let mode = |url: &str| Options::read(url).expect("options").connect.get_ssl_mode();
        use sqlx::postgres::PgSslMode;
        assert!(matches!(
            mode("postgres://a@localhost/db"),
            PgSslMode::Prefer
        ));
        assert!(matches!(mode("postgres://a@[::1]/db"), PgSslMode::Prefer));
        assert!(matches!(
            mode("postgres://a@db.example.com/db"),
            PgSslMode::VerifyFull
        ));
    }
}
