//! `azblob://ACCOUNT/CONTAINER` in URLs.

use crate::{Identity, Options, Tokens, credential::AZURITE_ACCOUNT, sas};
use lockwork_core::lock::{
    Connecting, Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
    is_torn, unescaped,
};
use std::time::Duration;
use url::Url;

/// Finds a container of Azure Blob storage by URL.
///
/// | URL | |
/// |---|---|
/// | `azblob://ACCOUNT/CONTAINER` | a container of an account in the public cloud |
/// | `azblob://ACCOUNT.blob.core.chinacloudapi.cn/CONTAINER` | the same elsewhere: a name with dots is a host |
/// | `azblob+http://127.0.0.1:10000/devstoreaccount1/CONTAINER` | Azurite, on this machine |
/// | `azblob+https://HOST:PORT/ACCOUNT/CONTAINER` | an account whose name is in the path |
///
/// Whose requests these are, the first of these that is there says: a key in the place of a password
/// (`azblob://:KEY@ACCOUNT/CONTAINER`, with `%2F` for a `/` and `%2B` for a `+`), the parts of a shared access signature
/// (`?sv=…&sig=…`), `auth`, Azurite's own account, the variables `AZURE_STORAGE_KEY` and
/// `AZURE_STORAGE_SAS_TOKEN`, and Entra ID as [`Identity::Auto`] has it.
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `40ms` |
/// | `lease` | for how long a lock is granted unless it is renewed; 15 s to 60 s | `30s` |
/// | `prefix` | what all blobs begin with | `lockwork` |
/// | `tokens` | `metadata`, or `sequence` for page blobs: see [`Tokens`] | `metadata` |
/// | `auth` | `managed`, `workload`, `app`, `cli` or `auto`: see [`Identity`] | |
pub const DRIVER: Driver = Driver {
    schemes: &["azblob", "azblob+http", "azblob+https"],
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
    // First: where a key was not escaped, what looks like an option is a part of it.
    let options = place(url)?;
    let (signature, ours) = apart(url);
    let mut query = Query::of(&ours)?;
    let auth = query.value::<Identity>("auth", "`managed`, `workload`, `app`, `cli` or `auto`")?;
    let mut options = identify(options, url, signature, auth)?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    if let Some(lease) = query.duration("lease")? {
        options = options.lease(lease);
    }
    if let Some(prefix) = query.option::<String>("prefix")? {
        options = options.prefix(prefix);
    }
    match query.option::<String>("tokens")?.as_deref() {
        None | Some("metadata") => {}
        Some("sequence") => options = options.tokens(Tokens::Sequence),
        Some(_) => {
            let message = "tokens is `metadata` or `sequence`";
            return Err(Error::new(ErrorKind::Invalid, message).with("option", "tokens"));
        }
    }
    query.finish()?;
    Ok((options, tenure))
}

/// Without what the URL says, which may have a key in it.
fn wrong() -> Error {
    let message = "this is not a URL of Azure Blob storage: write azblob://ACCOUNT/CONTAINER, or for Azurite \
                   azblob+http://127.0.0.1:10000/devstoreaccount1/CONTAINER, and in a key %2F for a / and %2B \
                   for a +";
    Error::new(ErrorKind::Invalid, message)
}

fn place(url: &Url) -> Result<Options> {
    if is_torn(url) || !url.username().is_empty() {
        return Err(wrong());
    }
    let host = url
        .host_str()
        .filter(|host| !host.is_empty())
        .ok_or_else(wrong)?;
    let host = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let path: Vec<_> = url
        .path()
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    match (url.scheme().strip_prefix("azblob+"), path.as_slice()) {
        (None, [container]) if !host.contains(['.', ':']) => Options::new(&host, container),
        (None, [container]) => {
            let account = host.split('.').next().unwrap_or_default();
            Options::at(&format!("https://{host}"), account, container)
        }
        (Some(scheme), [account, container]) => {
            Options::at(&format!("{scheme}://{host}/{account}"), account, container)
        }
        _ => Err(wrong()),
    }
}

/// The signature in a URL, if there is one, and the URL without it.
fn apart(url: &Url) -> (Option<String>, Url) {
    let query = url.query().unwrap_or_default();
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let (signature, ours): (Vec<_>, Vec<_>) = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .partition(|pair| sas::is_part(&name(pair)));
    let mut rest = url.clone();
    rest.set_query((!ours.is_empty()).then(|| ours.join("&")).as_deref());
    let signature = (!signature.is_empty()).then(|| signature.join("&"));
    (signature, rest)
}

fn identify(
    options: Options,
    url: &Url,
    signature: Option<String>,
    auth: Option<Identity>,
) -> Result<Options> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let said = usize::from(url.password().is_some())
        + usize::from(signature.is_some())
        + usize::from(auth.is_some());
    if said > 1 {
        let message = "the URL has several credentials: a key, a signature or auth, one of them";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    if let Some(key) = url.password() {
        return Ok(options.shared_key(unescaped(key).ok_or_else(wrong)?));
    }
    if let Some(signature) = signature {
        return Ok(options.sas(signature));
    }
    if let Some(identity) = auth {
        return Ok(options.identity(identity));
    }
    if options.is_here() && url.path().contains(AZURITE_ACCOUNT) {
        return Ok(options.with_the_known_key());
    }
    if let Some(key) = variable("AZURE_STORAGE_KEY") {
        return Ok(options.shared_key(key));
    }
    Ok(match variable("AZURE_STORAGE_SAS_TOKEN") {
        Some(signature) => options.sas(signature),
        None => options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(url: &str) -> Options {
        read(&url.parse().expect("a URL")).expect(url).0
    }

    fn refusal(url: &str) -> Error {
        let error = read(&url.parse().expect("a URL")).expect_err(url);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        error
    }

    #[test]
    fn a_container_is_found_where_its_account_is() {
        for (url, container) in [
            (
                "azblob://orders/locks",
                "https://orders.blob.core.windows.net/locks",
            ),
            (
                "azblob://orders.blob.core.chinacloudapi.cn/locks/",
                "https://orders.blob.core.chinacloudapi.cn/locks",
            ),
            (
                "azblob+http://127.0.0.1:11000/devstoreaccount1/locks",
                "http://127.0.0.1:11000/devstoreaccount1/locks",
            ),
            (
                "azblob+https://blobs.example.com/orders/locks",
                "https://blobs.example.com/orders/locks",
            ),
        ] {
            assert_eq!(options(url).container.as_str(), container);
        }
    }

    #[test]
    fn options_are_told_from_a_signature() {
        let options =
            options("azblob://orders/locks?sv=2024-11-04&lease=20s&sp=rcw&sig=a%2Bb&prefix=x");
        assert_eq!(options.lease, Duration::from_secs(20));
        assert_eq!(options.prefix, "x");
        assert_eq!(format!("{:?}", options.credential), "Sas");
    }

    #[test]
    fn a_key_stands_where_a_password_does() {
        let options = options("azblob://:a%2Fb@orders/locks");
        assert_eq!(format!("{:?}", options.credential), "Key");
        assert!(!format!("{options:?}").contains("a/b"));
    }

    #[test]
    fn azurite_needs_no_key_and_others_do() {
        let azurite = options("azblob+http://localhost:10000/devstoreaccount1/locks");
        assert!(azurite.credential.is_known_to_all());
        let other = options("azblob+https://blobs.example.com/devstoreaccount1/locks?auth=cli");
        assert!(!other.credential.is_known_to_all());
    }

    #[test]
    fn what_is_wrong_is_said_without_the_key() {
        for url in [
            "azblob://orders",
            "azblob://orders/locks/more",
            "azblob://secret@orders/locks",
            "azblob://orders/Locks",
            "azblob://orders/locks?auth=secret",
            "azblob://orders/locks?tokens=secret",
            "azblob://orders/locks?secret=1",
            "azblob://:secret@orders/locks?sv=1&sig=secret",
            "azblob+http://127.0.0.1/devstoreaccount1",
        ] {
            let error = refusal(url);
            let text = format!("{error} {error:?}");
            assert!(
                !text.contains("secret") || url.contains("?secret=1"),
                "{url}: {text}"
            );
        }
    }
}
