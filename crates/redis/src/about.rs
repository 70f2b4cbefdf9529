//! What a server says about itself.

use crate::{
    errors::{self, refused},
    options::Deployment,
    wire::Wire,
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use redis::{ErrorKind as Kind, ServerErrorKind, Value};
use std::collections::HashMap;

/// The lines of `INFO`; none where we may not ask for it.
#[derive(Debug, Default)]
pub(crate) struct About(HashMap<String, String>);

/// Before this there are no users, and no pushes beside answers.
const OLDEST: u32 = 6;

impl About {
    pub(crate) async fn of(wire: &mut Wire) -> Result<Self> {
        match wire.call(&redis::cmd("INFO")).await {
            Ok(said) => Ok(Self::read(said)),
            Err(error) if error.kind() == Kind::Server(ServerErrorKind::NoPerm) => {
                Ok(Self::default())
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn read(said: Value) -> Self {
        let mut about = HashMap::new();
        // Of a cluster, each node says its own; they are meant to be alike.
        let texts = match said {
            Value::Map(nodes) => nodes.into_iter().map(|(_, text)| text).collect(),
            text => vec![text],
        };
        for text in texts {
            let text: String = redis::from_redis_value(text).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            about.extend(lines.map(|(key, value)| (key.to_owned(), value.to_owned())));
        }
        Self(about)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// Refuses a server on which locks would not hold.
    pub(crate) fn check(&self, deployment: &Deployment) -> Result<()> {
        let major = self.get("redis_version").and_then(|version| {
            let (major, _) = version.split_once('.')?;
            major.parse::<u32>().ok()
        });
        if major.is_some_and(|major| major < OLDEST) {
            let (kind, message) = errors::too_old();
            return Err(Error::new(kind, message));
        }
        // In a cluster the last one asked may well be a replica.
        if *deployment == Deployment::Cluster {
            return Ok(());
        }
        // Most locks would be refused there, and not all.
        if self.get("cluster_enabled") == Some("1") {
            let (kind, message) = errors::node();
            return Err(Error::new(kind, message));
        }
        if self.get("role") == Some("slave") {
            let (kind, message) = errors::replica();
            return Err(Error::new(kind, message));
        }
        Ok(())
    }
}

/// A server that may not be asked.
pub(crate) fn unknown() -> Error {
    let message = "this user of Redis may not ask for INFO: grant it, or look yourself";
    Error::new(ErrorKind::Denied, message)
}
