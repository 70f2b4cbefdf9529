//! `file:DIRECTORY` in URLs.

use crate::Files;
use lockwork_core::lock::{
    Connecting, Driver, Error, ErrorKind, Locks, Query, Result, backend::queue::DEFAULT_TENURE,
};
use std::path::PathBuf;
use url::Url;

/// Finds a directory of locks by URL: `file:./locks`, `file:///var/lib/app/locks`.
///
/// | option | | unless said otherwise |
/// |---|---|---|
/// | `tenure` | how long a process may pass a lock among its own tasks | `40ms` |
/// | `idle` | after how long without use a lock's file is removed | `1d` |
/// | `shared` | accept a directory others may write to | `false` |
/// | `any_fs` | accept a file system that is not known to be local | `false` |
/// | `poll` | look again and again instead of being told | `false` |
pub const DRIVER: Driver = Driver {
    schemes: &["file"],
    connect: connecting,
};

fn connecting(url: Url) -> Connecting {
    Box::pin(std::future::ready(connect(&url)))
}

fn connect(url: &Url) -> Result<Locks> {
    let path = path(url)?;
    let mut query = Query::of(url)?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    let mut options = Files::options();
    if let Some(idle) = query.duration("idle")? {
        options = options.idle(idle);
    }
    if let Some(shared) = query.option("shared")? {
        options = options.shared(shared);
    }
    if let Some(any) = query.option("any_fs")? {
        options = options.any_file_system(any);
    }
    if let Some(poll) = query.option("poll")? {
        options = options.poll(poll);
    }
    query.finish()?;
    Ok(Locks::with_tenure(options.open(path)?, tenure))
}

fn path(url: &Url) -> Result<PathBuf> {
    let message = "a file URL names a directory and no host: write file:./locks, or \
                   file:///var/lib/app/locks with three slashes";
    let refuse = || Error::new(ErrorKind::Invalid, message);
    if url.host().is_some() {
        return Err(refuse().with("host", url.host_str().unwrap_or_default()));
    }
    let path = url.to_file_path().map_err(|()| refuse())?;
    // The root: what `file://` leads to.
    if path.parent().is_none() {
        return Err(refuse());
    }
    Ok(path)
}
