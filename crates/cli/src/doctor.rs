//! `lockwork doctor`: what would break a promise here, and what to do about it.

use crate::{
    args::Doctor,
    connect,
    exit::{self, End, Ended},
    node::{pair, place::shown},
    show,
};
use lockwork::{Finding, Locks, Registry, Report, Severity, store};
use serde_json::{Value, json};
use std::path::Path;

/// Where `lockwork dev` keeps everything, unless said otherwise.
const DEV: &str = ".lockwork";

/// What is to be looked at.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    store: Option<String>,
    locks: Option<String>,
}

/// One of them, and what was found there.
struct Looked {
    what: &'static str,
    at: String,
    report: Report,
}

pub(crate) async fn run(registry: &Registry, args: Doctor) -> Ended {
    let variable = |name: &str| std::env::var(name).ok();
    let places = Places::of(&args, variable, Path::new(DEV).is_dir())?;
    let mut looked = Vec::new();
    if let Some(url) = &places.store {
        looked.push(Looked {
            what: "store",
            at: shown(url),
            report: store::doctor(url).await?,
        });
    }
    if let Some(url) = &places.locks {
        let locks = connect::to(registry, url).await?;
        looked.push(Looked {
            what: "locks",
            at: shown(url),
            report: locks.doctor().await?,
        });
        let store = places.store.iter();
        looked.extend(store.filter_map(|store| misfit(store, &locks, args.allow_local_locks)));
    }
    let is_safe = looked.iter().all(|looked| looked.report.is_safe());
    match args.json {
        true => show::print(json(&looked, is_safe)),
        false => print(&looked, is_safe),
    }
    Ok(if is_safe { 0 } else { exit::FOUND })
}

/// Each may be well by itself, and both together be what `lockwork serve` refuses.
fn misfit(store: &str, locks: &Locks, allow_local_locks: bool) -> Option<Looked> {
    pair(store, locks, allow_local_locks).err()?;
    let what = "nodes on several machines can share this store, and these locks keep no other machine out: `lockwork serve` \
                refuses them together";
    let remedy = "name locks in PostgreSQL, Redis, SQL Server or Azure, or say --allow-local-locks, here and there, if all \
                  nodes are on this machine";
    Some(Looked {
        what: "pair",
        at: "of store and locks".to_owned(),
        report: Report::new(vec![Finding::new(Severity::Unsafe, what, remedy)]),
    })
}

impl Places {
    /// What the arguments name and nothing else; or else what the environment names, or what `lockwork dev` has made.
    fn of(args: &Doctor, variable: impl Fn(&str) -> Option<String>, has_dev: bool) -> Ended<Self> {
        let said = Self {
            store: args.store.clone(),
            locks: args.place.url.clone(),
        };
        let find = |names: &[&str]| {
            let found = names.iter().find_map(|name| variable(name));
            found.filter(|text| !text.is_empty())
        };
        let set = || Self {
            store: find(&["LOCKWORK_STORE"]),
            locks: find(&["LOCKWORK_LOCKS", "LOCKWORK_URL"]),
        };
        let dev = || Self {
            store: has_dev.then(|| format!("sqlite:{DEV}/lockwork.db")),
            locks: has_dev.then(|| format!("file:./{DEV}/locks")),
        };
        let all = [said, set(), dev()].into_iter();
        let mut named = all.filter(|places| *places != Self::default());
        named.next().ok_or_else(|| {
            let sentence = "what shall be looked at? Add --store URL or --locks URL or both: --store sqlite:./lockwork.db \
                            --locks file:./locks, say; there is no ./.lockwork here";
            End::new(exit::USAGE, sentence)
        })
    }
}

fn print(looked: &[Looked], is_safe: bool) {
    for one in looked {
        if looked.len() > 1 {
            show::print(show::bold(&format!("{} {}", one.what, one.at)));
        }
        for finding in &one.report.findings {
            show::print(finding);
        }
    }
    if is_safe {
        show::print("nothing here breaks a promise");
    }
}

fn json(looked: &[Looked], is_safe: bool) -> Value {
    let finding = |of: &'static str, finding: &Finding| {
        json!({
            "of": of,
            "severity": severity(finding.severity),
            "what": finding.what,
            "remedy": finding.remedy,
        })
    };
    let findings = looked.iter().flat_map(|one| {
        let findings = one.report.findings.iter();
        findings.map(|found| finding(one.what, found))
    });
    let findings: Vec<_> = findings.collect();
    json!({ "safe": is_safe, "findings": findings })
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        // Whatever else there may be one day: better looked at than not.
        _ => "unsafe",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Place;

    fn of(store: Option<&str>, variables: &[(&str, &str)], has_dev: bool) -> Ended<Places> {
        let args = Doctor {
            place: Place { url: None },
            store: store.map(str::to_owned),
            allow_local_locks: false,
            json: false,
        };
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Places::of(&args, variable, has_dev)
    }

    #[tokio::test]
    async fn a_pair_that_a_node_refuses_is_unsafe() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("file:{}", directory.path().display());
        let locks = lockwork::connect(&url).await.unwrap();
        let found = misfit("postgres://db/app", &locks, false).unwrap();
        assert!(!found.report.is_safe());
        let told = json(&[found], false);
        assert_eq!(told["findings"][0]["of"], "pair");
        assert!(misfit("postgres://db/app", &locks, true).is_none());
        assert!(misfit("sqlite:./app.db", &locks, false).is_none());
    }

    #[test]
    fn what_is_named_is_looked_at_and_nothing_else() {
        let set = [("LOCKWORK_URL", "memory:")];
        let places = of(Some("sqlite:a"), &set, true).unwrap();
        assert_eq!(
            (places.store.as_deref(), places.locks),
            (Some("sqlite:a"), None)
        );
        let places = of(None, &set, true).unwrap();
        assert_eq!(
            (places.store, places.locks.as_deref()),
            (None, Some("memory:"))
        );
    }

    #[test]
    fn where_nothing_is_named_it_is_what_dev_made_or_nothing() {
        let places = of(None, &[], true).unwrap();
        assert_eq!(
            places.store.as_deref(),
            Some("sqlite:.lockwork/lockwork.db")
        );
        assert!(places.locks.is_some());
        let told = of(None, &[("LOCKWORK_STORE", "")], false).unwrap_err();
        assert_eq!(told.code, exit::USAGE);
        assert!(told.sentence.contains("--store URL"));
    }
}
