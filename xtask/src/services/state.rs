//! The memory of `up`, `down` and `status`: which services were started, as a
//! JSON file in `target/services`. It may be stale, so it is never believed
//! without looking: see `Process` and the `ready` of a service.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;

use super::given;
use super::list::{self, Service};
use super::record::Record;

/// How long to wait for another `up` or `down`, which may be installing.
const LIMIT: Duration = Duration::from_secs(600);

/// What was started, by the name of the service.
pub(crate) struct State {
    home: PathBuf,
    records: BTreeMap<String, Record>,
    /// Held by those who change something, so that there is one at a time.
    _held: Option<File>,
}

impl State {
    /// For those who change something; waits for whoever is at it already.
    pub(crate) fn take(repo: &Repo) -> Outcome<Self> {
        let home = repo.root().join("target/services");
        fs::create_dir_all(&home).map_err(|error| files::unusable(&home, &error))?;
        // Beside the directory, because `down` removes that.
        let held = hold(&home.with_extension("lock"))?;
        Ok(Self {
            _held: Some(held),
            ..Self::look(repo)
        })
    }

    /// For those who only look.
    pub(crate) fn look(repo: &Repo) -> Self {
        let home = repo.root().join("target/services");
        let text = fs::read_to_string(home.join("state.json")).unwrap_or_default();
        Self {
            records: parse(&text),
            home,
            _held: None,
        }
    }

    /// The directory for what services leave behind.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn get(&self, service: &Service) -> Option<&Record> {
        self.records.get(service.name)
    }

    /// The port of a service by its name.
    pub(crate) fn port(&self, name: &str) -> Option<u16> {
        self.records.get(name).map(|record| record.port)
    }

    /// The ports of the group of a service, once all of it was started.
    pub(crate) fn ports(&self, service: &Service) -> Option<Vec<u16>> {
        list::group(service)
            .map(|member| self.port(member.name))
            .collect()
    }

    /// Whether Docker runs any of them.
    pub(crate) fn in_compose(&self) -> bool {
        self.records.values().any(|record| record.native.is_none())
    }

    /// Whether any of them is a process of its own.
    pub(crate) fn in_processes(&self) -> bool {
        self.records.values().any(|record| record.native.is_some())
    }

    /// The address of a server that was not started here, if the environment
    /// names one.
    pub(crate) fn given(&self, service: &Service) -> Option<String> {
        let ours = self.started(service);
        given::choose(
            service,
            std::env::var(service.variable).ok()?,
            ours.as_deref(),
        )
    }

    /// Where tests find the service.
    pub(crate) fn url(&self, service: &Service) -> Option<String> {
        self.given(service).or_else(|| self.started(service))
    }

    /// The address of what was started here.
    fn started(&self, service: &Service) -> Option<String> {
        self.ports(service).map(|ports| (service.url)(&ports))
    }

    /// Remembers a service, at once and on disk.
    pub(crate) fn set(&mut self, service: &Service, record: Record) -> Outcome {
        self.records.insert(service.name.to_owned(), record);
        self.save()
    }

    /// Forgets a service.
    pub(crate) fn forget(&mut self, service: &Service) -> Outcome {
        self.records.remove(service.name);
        self.save()
    }

    /// Forgets everything and leaves no directory.
    pub(crate) fn destroy(self) -> Outcome {
        fs::remove_dir_all(&self.home).map_err(|error| files::unusable(&self.home, &error))
    }

    /// Another process sees the old file or the new one, never half of it.
    fn save(&self) -> Outcome {
        let path = self.home.join("state.json");
        let new = self.home.join("state.json.new");
        fs::write(&new, print(&self.records)).map_err(|error| files::unusable(&new, &error))?;
        fs::rename(&new, &path).map_err(|error| files::unusable(&path, &error))
    }
}

fn hold(path: &Path) -> Outcome<File> {
    let file = File::create(path).map_err(|error| files::unusable(path, &error))?;
    let deadline = Instant::now() + LIMIT;
    let mut said = false;
    while file.try_lock().is_err() {
        if Instant::now() >= deadline {
            return Err(Failure::failed(format!(
                "Another `cargo xtask up` or `down` has been at work in this tree for {} s; see what it waits for, and end it.",
                LIMIT.as_secs()
            )));
        }
        if !std::mem::replace(&mut said, true) {
            eprintln!("another `cargo xtask up` or `down` is at work in this tree; waiting for it");
        }
        sleep(Duration::from_millis(100));
    }
    Ok(file)
}

fn print(records: &BTreeMap<String, Record>) -> String {
    let rows = records.iter();
    let map: Map<String, Value> = rows.map(|(name, r)| (name.clone(), r.to_json())).collect();
    format!("{:#}\n", Value::Object(map))
}

fn parse(text: &str) -> BTreeMap<String, Record> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let rows = value.as_object().into_iter().flatten();
    rows.filter_map(|(name, row)| Some((name.clone(), Record::from_json(row)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back_are_the_ones_written() {
        let record = Record {
            port: 20001,
            native: None,
        };
        let records = BTreeMap::from([("postgres".to_owned(), record)]);
        assert_eq!(parse(&print(&records)), records);
    }

    #[test]
    fn a_broken_file_is_an_empty_memory() {
        for text in ["", "{", "[1]", r#"{"postgres": 3}"#] {
            assert!(parse(text).is_empty());
        }
    }
}
