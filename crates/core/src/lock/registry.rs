//! Finding a backend by its URL.

use super::{Error, ErrorKind, Locks, Result};
use std::{
    borrow::Cow, collections::BTreeMap, fmt, future::Future, pin::Pin, str::FromStr, time::Duration,
};
use url::Url;

/// A connection being made.
pub type Connecting = Pin<Box<dyn Future<Output = Result<Locks>> + Send>>;

/// What a backend crate exports so that a URL can find it: `lockwork_redis::DRIVER`, say.
#[derive(Clone, Copy)]
pub struct Driver {
    /// The URL schemes it answers to.
    pub schemes: &'static [&'static str],
    /// Connects. Options it does not know are errors: see [`Query`].
    ///
    /// Best the name of a function: a closure in a constant is compiled by whoever names the constant,
    /// and the whole backend with it.
    pub connect: fn(Url) -> Connecting,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("schemes", &self.schemes)
            .finish_non_exhaustive()
    }
}

/// The drivers a URL may name. A value, not a global: build one, or use the facade's.
///
/// ```
/// use lockwork_core::lock::{MEMORY, Registry};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let registry = Registry::new().with(MEMORY); // and `.with(theirs::DRIVER)`
/// let locks = registry.connect("memory:").await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    drivers: Vec<Driver>,
    elsewhere: BTreeMap<&'static str, &'static str>,
}

impl Registry {
    /// Knows no scheme.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Knows `driver` too. Of two that answer to one scheme, the later counts.
    #[must_use]
    pub fn with(mut self, driver: Driver) -> Self {
        self.drivers.push(driver);
        self
    }

    /// Knows what to say about a `scheme` it has no driver for: which feature to enable, say.
    #[must_use]
    pub fn without(mut self, scheme: &'static str, advice: &'static str) -> Self {
        self.elsewhere.insert(scheme, advice);
        self
    }

    /// Connects to the backend that `url` names.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it is not a URL, or its scheme or an option is unknown;
    /// the sentence names those that are known. Otherwise what the server has to say.
    ///
    /// # Cancel safety
    /// Dropped half way, nothing is connected.
    pub async fn connect(&self, url: &str) -> Result<Locks> {
        let url = parse(url)?;
        match self
            .drivers
            .iter()
            .rev()
            .find(|driver| driver.schemes.contains(&url.scheme()))
        {
            Some(driver) => (driver.connect)(url).await,
            None => Err(self.unknown(url.scheme())),
        }
    }

    fn unknown(&self, scheme: &str) -> Error {
        let known: Vec<_> = self
            .drivers
            .iter()
            .flat_map(|d| d.schemes)
            .copied()
            .collect();
        let error = match self.elsewhere.get(scheme) {
            Some(advice) => Error::new(ErrorKind::Invalid, *advice),
            None => Error::new(ErrorKind::Invalid, "no backend answers to this URL scheme"),
        };
        error.with("scheme", scheme).with("known", known.join(", "))
    }
}

/// Reads a URL. The path of a `file:` URL may be relative to the current directory.
fn parse(text: &str) -> Result<Url> {
    let refuse = |error| {
        let message = match text.contains('@') {
            // Most likely because of a password, which ends where it does not seem to.
            true => {
                "this is not a URL: write something like redis://user:password@localhost, and in a \
                 password %40 for an @, %2F for a /, %3F for a ? and %23 for a #"
            }
            false => "this is not a URL: write something like file:./locks or redis://localhost",
        };
        Error::new(ErrorKind::Invalid, message).because(error)
    };
    let url = Url::parse(&one_host(text)).map_err(refuse)?;
    if url.scheme() != "file" {
        return Ok(url);
    }
    let (_, named) = text.trim().split_once(':').unwrap_or_default();
    if named.is_empty() || named.starts_with(['?', '#']) {
        let message = "a file URL names a directory: write file:./locks, or file:. for this one";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    let here = std::env::current_dir().ok();
    let here = here.and_then(|here| Url::from_directory_path(here).ok());
    let relative = Url::options().base_url(here.as_ref()).parse(text);
    relative.map_err(refuse)
}

/// A URL has one host. Where somebody wrote several, with commas between them, they become one that
/// [`hosts`] takes apart again.
fn one_host(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.into();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((login, hosts)) => (format!("{login}@"), hosts),
        None => (String::new(), authority),
    };
    if !hosts.contains(',') {
        return text.into();
    }
    let escapes = [(":", "%3A"), (",", "%2C"), ("[", "%5B"), ("]", "%5D")];
    let hosts = escapes
        .into_iter()
        .fold(hosts.to_owned(), |hosts, (from, to)| {
            hosts.replace(from, to)
        });
    format!("{scheme}://{login}{hosts}{rest}").into()
}

/// The options after the `?` of a URL, taken out one by one; what is left over is an error.
///
/// ```
/// use lockwork_core::lock::Query;
/// use std::time::Duration;
///
/// let mut query = Query::of(&"memory:?tenure=5ms".parse().unwrap())?;
/// assert_eq!(query.duration("tenure")?, Some(Duration::from_millis(5)));
/// query.finish()?;
/// # Ok::<(), lockwork_core::lock::Error>(())
/// ```
#[derive(Debug)]
pub struct Query {
    left: BTreeMap<String, String>,
    known: Vec<&'static str>,
}

impl Query {
    /// The options of `url`.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if one is given twice.
    pub fn of(url: &Url) -> Result<Self> {
        let mut left = BTreeMap::new();
        for (key, value) in url.query_pairs() {
            if left.insert(key.to_string(), value.to_string()).is_some() {
                let message = "an option of a URL can be given once";
                return Err(Error::new(ErrorKind::Invalid, message).with("option", key));
            }
        }
        Ok(Self {
            left,
            known: Vec::new(),
        })
    }

    /// The option `key`, parsed.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it does not parse. The value is not repeated: it may be
    /// a secret in the wrong place.
    pub fn option<T: FromStr>(&mut self, key: &'static str) -> Result<Option<T>> {
        self.parse(
            key,
            |text| text.parse().ok(),
            "this option of the URL has no such value",
        )
    }

    /// The option `key`, a length of time such as `250ms`, `30s`, `5m`, `2h`, `1d` or `0`.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it is not one.
    pub fn duration(&mut self, key: &'static str) -> Result<Option<Duration>> {
        let message = "this option of the URL is a length of time: write 250ms, 30s or 5m";
        self.parse(key, duration, message)
    }

    /// The option `key`, the path of a file, and what is in it.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it cannot be read.
    pub fn file(&mut self, key: &'static str) -> Result<Option<(String, Vec<u8>)>> {
        let Some(path) = self.option::<String>(key)? else {
            return Ok(None);
        };
        let inside = std::fs::read(&path).map_err(|error| {
            let message = "this option of the URL names a file that cannot be read: check its path, \
                           and who may read it";
            let refused = Error::new(ErrorKind::Invalid, message).with("option", key);
            refused.because(error)
        })?;
        Ok(Some((path, inside)))
    }

    /// As [`Query::option`]; the error names the `values` it may have.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it has another.
    pub fn value<T: FromStr>(&mut self, key: &'static str, values: &str) -> Result<Option<T>> {
        self.option(key).map_err(|_| {
            let message = format!("{key} is {values}");
            Error::new(ErrorKind::Invalid, message).with("option", key)
        })
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if an option is left that nobody asked for; the sentence
    /// names those that are known.
    pub fn finish(self) -> Result<()> {
        match self.left.into_keys().next() {
            None => Ok(()),
            Some(unknown) => Err(
                Error::new(ErrorKind::Invalid, "the URL has an unknown option")
                    .with("option", unknown)
                    .with("known", self.known.join(", ")),
            ),
        }
    }

    fn parse<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
        message: &'static str,
    ) -> Result<Option<T>> {
        self.known.push(key);
        let Some(text) = self.left.remove(key) else {
            return Ok(None);
        };
        let refuse = || Error::new(ErrorKind::Invalid, message).with("option", key);
        parse(&text).map(Some).ok_or_else(refuse)
    }
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit {
        "" if number == 0 => Some(Duration::ZERO),
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(60 * 60).map(Duration::from_secs),
        "d" => number.checked_mul(24 * 60 * 60).map(Duration::from_secs),
        _ => None,
    }
}
