//! Where the file is, and how to use it otherwise than usual.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use lockwork_flow::Length;
use std::{
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};
use url::form_urlencoded;

/// How to use a file.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) file: PathBuf,
    pub(super) busy: Duration,
    pub(super) readers: u32,
    pub(super) group: usize,
}

const SCHEME: &str = "sqlite:";
const KNOWN: &str = "busy, group, readers";

impl Options {
    /// A store in this file, which is created if it is missing.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            busy: Duration::from_secs(5),
            readers: 2,
            group: 256,
        }
    }

    /// How long to wait for another process that has the file locked. Default: 5 s.
    #[must_use]
    pub const fn busy(mut self, busy: Duration) -> Self {
        self.busy = busy;
        self
    }

    /// How many connections read beside the one that writes. Default: 2.
    #[must_use]
    pub const fn readers(mut self, readers: u32) -> Self {
        self.readers = readers;
        self
    }

    /// How many operations are committed together at most. Default: 256.
    #[must_use]
    pub const fn group(mut self, group: usize) -> Self {
        self.group = group;
        self
    }

    /// From a URL: `sqlite:./lockwork.db`, `sqlite:/var/lib/app/lockwork.db?busy=10s`.
    ///
    /// What is before the `?` is a path as it is, with nothing escaped in it. As elsewhere, `sqlite://lockwork.db` is in
    /// the current directory and `sqlite:///lockwork.db` is not.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if it names no file, or an option that is unknown or wrong.
    pub fn from_url(url: &str) -> Result<Self> {
        let rest = url.strip_prefix(SCHEME).ok_or_else(|| {
            let message = "the URL of a store in a file begins with `sqlite:`";
            Error::new(ErrorKind::Invalid, message)
        })?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.strip_prefix("//").unwrap_or(path);
        check_path(path)?;
        let mut options = Self::new(path);
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            options.set(&key, &value)?;
        }
        options.check()
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "busy" => self.busy = parse::<Length>(key, value)?.as_duration(),
            "group" => self.group = parse(key, value)?,
            "readers" => self.readers = parse(key, value)?,
            unknown => {
                return Err(
                    Error::new(ErrorKind::Invalid, "the URL has an unknown option")
                        .with("option", unknown)
                        .with("known", KNOWN),
                );
            }
        }
        Ok(())
    }

    pub(super) fn check(self) -> Result<Self> {
        if self.readers == 0 || self.group == 0 {
            let message = "a store has one reader at least, and a group one operation";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(self)
    }

    /// The directory the file is in.
    pub(super) fn directory(&self) -> &Path {
        let parent = self.file.parent();
        parent
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
    }
}

fn check_path(path: &str) -> Result<()> {
    if path.starts_with(":memory:") {
        let message = "a SQLite database in memory is for one connection, and a store has several: use MemoryStore, \
                       or name a file";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    if path.is_empty() || path.ends_with('/') {
        let message = "the URL names no file: write `sqlite:./lockwork.db`, say";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(())
}

fn parse<T: FromStr>(key: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| {
        let message = "an option of the URL has a value that it cannot have: a length of time such as `5s`, or a number";
        Error::new(ErrorKind::Invalid, message)
            .with("option", key)
            .with("value", value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str) -> PathBuf {
        Options::from_url(url).unwrap().file
    }

    #[test]
    fn a_path_is_relative_or_absolute() {
        assert_eq!(path("sqlite:./a.db"), Path::new("./a.db"));
        assert_eq!(path("sqlite:a.db"), Path::new("a.db"));
        assert_eq!(path("sqlite://a.db"), Path::new("a.db"));
        assert_eq!(path("sqlite:/tmp/a b%.db"), Path::new("/tmp/a b%.db"));
        assert_eq!(path("sqlite:///tmp/a.db"), Path::new("/tmp/a.db"));
    }

    #[test]
    fn options_are_read() {
        let options = Options::from_url("sqlite:a.db?busy=1m30s&readers=3&group=7").unwrap();
        assert_eq!(options.busy, Duration::from_secs(90));
        assert_eq!((options.readers, options.group), (3, 7));
    }

    #[test]
    fn what_is_wrong_is_refused_with_a_sentence() {
        for (url, says) in [
            ("sqlite::memory:", "MemoryStore"),
            ("sqlite:", "names no file"),
            ("sqlite:./", "names no file"),
            ("file:a.db", "begins with"),
            ("sqlite:a.db?busi=5s", "busy, group, readers"),
            ("sqlite:a.db?busy=soon", "busy"),
            ("sqlite:a.db?group=-1", "group"),
            ("sqlite:a.db?readers=0", "one reader"),
        ] {
            let error = Options::from_url(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains(says), "{url}: {error}");
        }
    }
}
