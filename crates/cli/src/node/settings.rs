//! Where a setting of `lockwork serve` comes from: the arguments, the environment, a file, in this order.

use super::{config, place};
use crate::{
    args::{ADDRESS, Serve},
    exit::{self, End, Ended},
    time,
};
use std::{collections::BTreeMap, path::Path, time::Duration};

/// What was said, wherever.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) store: String,
    pub(crate) locks: String,
    pub(crate) listen: String,
    pub(crate) node: Option<String>,
    pub(crate) keys: Option<String>,
    pub(crate) secret_file: Option<String>,
    pub(crate) definitions: Option<String>,
    pub(crate) workflows_at: Option<String>,
    pub(crate) drain: Option<Duration>,
}

impl Settings {
    /// With `variable` to ask the environment by.
    pub(crate) fn of(args: &Serve, variable: impl Fn(&str) -> Option<String>) -> Ended<Self> {
        let file = file(args.config.as_deref())?;
        let find = |said: &Option<String>, variables: &[&str], name: &str| {
            let named = variables.iter().find_map(|name| variable(name));
            let found = said.clone().or(named).or_else(|| file.get(name).cloned());
            found.filter(|text| !text.is_empty())
        };
        let store = find(&args.store, &["LOCKWORK_STORE"], "store").ok_or_else(nowhere)?;
        let locks = find(&args.locks, &["LOCKWORK_LOCKS", "LOCKWORK_URL"], "locks");
        let locks = locks.map_or_else(|| beside(&store), Ok)?;
        let listen = find(&args.listen, &["LOCKWORK_LISTEN"], "listen");
        let drain = find(&args.drain, &["LOCKWORK_DRAIN"], "drain");
        Ok(Self {
            store,
            locks,
            listen: listen.unwrap_or_else(|| ADDRESS.to_owned()),
            node: find(&args.node, &["LOCKWORK_NODE"], "node"),
            keys: find(&args.keys, &["LOCKWORK_KEYS"], "keys"),
            secret_file: find(&args.secret_file, &["LOCKWORK_SECRET_FILE"], "secret-file"),
            definitions: find(&args.definitions, &["LOCKWORK_DEFINITIONS"], "definitions"),
            workflows_at: find(
                &args.workflows_at,
                &["LOCKWORK_WORKFLOWS_AT"],
                "workflows-at",
            ),
            drain: drain.as_deref().map(length).transpose()?,
        })
    }
}

fn file(path: Option<&Path>) -> Ended<BTreeMap<&'static str, String>> {
    let Some(path) = path else {
        return Ok(BTreeMap::new());
    };
    let text = text(path, "this file of settings")?;
    config::read(&text).map_err(|why| End::new(exit::USAGE, format!("{}, {why}", path.display())))
}

/// What a file says that somebody named.
pub(crate) fn text(path: &Path, what: &str) -> Ended<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let sentence = format!("{what} cannot be read: {}: {error}", path.display());
        End::new(exit::USAGE, sentence)
    })
}

fn length(drain: &str) -> Ended<Duration> {
    time::duration(drain).map_err(|how| {
        let sentence = format!("how long may a drain take? {how}");
        End::new(exit::USAGE, sentence)
    })
}

fn nowhere() -> End {
    let sentence = "where are the workflows? Add --store URL or set LOCKWORK_STORE: postgres://USER@HOST/DATABASE, or \
                    sqlite:./lockwork.db for the processes of one machine";
    End::new(exit::USAGE, sentence)
}

/// Locks in the same database, or beside the file.
fn beside(store: &str) -> Ended<String> {
    match store.split(':').next() {
        Some("postgres" | "postgresql") => Ok(without_options_of_a_store(store)),
        Some("sqlite") => {
            let path = Path::new(place::path(store)).with_extension("locks");
            Ok(format!("file:{}", path.display()))
        }
        _ => {
            let sentence = "where are the locks? Add --locks URL or set LOCKWORK_LOCKS";
            Err(End::new(exit::USAGE, sentence))
        }
    }
}

/// Options that a store in PostgreSQL has, and locks there do not.
fn without_options_of_a_store(url: &str) -> String {
    let Some((place, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let is_shared = |option: &&str| !["pool", "deadline"].contains(&name(option));
    let shared: Vec<_> = query.split('&').filter(is_shared).collect();
    match shared.is_empty() {
        true => place.to_owned(),
        false => format!("{place}?{}", shared.join("&")),
    }
}

fn name(option: &str) -> &str {
    option.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &Serve, variables: &[(&str, &str)]) -> Ended<Settings> {
        Settings::of(args, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_argument_counts_before_the_environment_and_that_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("serve.toml");
        let lines = "store = \"sqlite:f\"\nlisten = \"f\"\nnode = \"f\"\ndrain = \"1m\"";
        std::fs::write(&file, lines).unwrap();
        let args = Serve {
            config: Some(file),
            store: Some("sqlite:a".into()),
            ..Serve::default()
        };
        let variables = [("LOCKWORK_STORE", "sqlite:e"), ("LOCKWORK_LISTEN", "e")];
        let settings = of(&args, &variables).unwrap();
        assert_eq!(settings.store, "sqlite:a");
        assert_eq!(settings.listen, "e");
        assert_eq!(settings.node.as_deref(), Some("f"));
        assert_eq!(settings.drain, Some(Duration::from_secs(60)));
    }

    #[test]
    fn locks_are_where_the_store_is_unless_said_otherwise() {
        let with = |store: &str, variables: &[(&str, &str)]| {
            let store = Some(store.to_owned());
            let args = Serve {
                store,
                ..Serve::default()
            };
            of(&args, variables).unwrap().locks
        };
        assert_eq!(with("postgres://db/x", &[]), "postgres://db/x");
        assert_eq!(with("postgres://db/x?pool=8", &[]), "postgres://db/x");
        assert_eq!(
            with("postgres://db/x?pool=8&schema=a&deadline=1s", &[]),
            "postgres://db/x?schema=a"
        );
        assert_eq!(with("sqlite:./a.db?busy=1s", &[]), "file:./a.locks");
        let said = [("LOCKWORK_URL", "redis://host")];
        assert_eq!(with("postgres://db/x", &said), "redis://host");
    }

    #[test]
    fn a_store_has_to_be_named() {
        let told = of(&Serve::default(), &[]).unwrap_err();
        assert_eq!(told.code, exit::USAGE);
        assert!(told.sentence.contains("LOCKWORK_STORE"));
    }
}
