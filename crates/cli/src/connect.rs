//! From what the user says about the place to locks.

use crate::args::Place;
use lockwork::{Error, ErrorKind, Locks, Registry, Result};

/// Connects to where `--locks`, or else the environment, says.
pub(crate) async fn connect(registry: &Registry, place: &Place) -> Result<Locks> {
    let url = place
        .url
        .clone()
        .or_else(|| std::env::var("LOCKWORK_URL").ok());
    let url = url.filter(|url| !url.is_empty()).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            "where are the locks? Add --locks URL or set LOCKWORK_URL: --locks file:./locks, say",
        )
    })?;
    to(registry, &url).await
}

/// Connects to this place.
pub(crate) async fn to(registry: &Registry, url: &str) -> Result<Locks> {
    check(url)?;
    registry.connect(url).await
}

/// `file://locks` is a URL, of a host called `locks` with no path: hardly ever what was meant.
fn check(url: &str) -> Result<()> {
    let rest = url.strip_prefix("file://").unwrap_or("/");
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if path.starts_with('/') {
        return Ok(());
    }
    let message = "after file:// comes the name of a machine: write file:./DIR or file:/DIR";
    Err(Error::new(ErrorKind::Invalid, message).with("instead", format!("file:./{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_the_place_of_a_host_is_told_how_to_be_written() {
        let told = check("file://locks").unwrap_err().to_string();
        assert!(told.contains("file:./locks"), "{told}");
        assert!(check("file://./locks").is_err());
    }

    #[test]
    fn other_urls_are_left_to_their_backends() {
        for url in [
            "file:./locks",
            "file:///var/locks",
            "file:/x",
            "memory:",
            "redis://host",
        ] {
            assert!(check(url).is_ok(), "{url}");
        }
    }
}
