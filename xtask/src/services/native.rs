//! Running the services as plain processes, where there is no Docker engine.
//! Everything about a server that is true without cargo and this workspace is
//! in `lockwork_servers`: where its programs are, as whom it may run, how it is
//! set up, started, found again and ended.

pub(crate) mod azurite;
pub(crate) mod install;
pub(crate) mod pgbouncer;
pub(crate) mod postgres;
pub(crate) mod redis;

use std::fs;
use std::path::{Path, PathBuf};

use lockwork_servers::account::Account;
use lockwork_servers::process::Process;
use lockwork_servers::site::{self, Site};
use lockwork_servers::{port, server};

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;

use super::list::Service;
use super::progress;
use super::record::{Native, Record};
use super::state::State;

/// Starts those that do not run, and starts anew those that do not answer.
pub(crate) fn up(repo: &Repo, state: &mut State, services: &[&Service]) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err(Failure::failed(
            "No Docker engine answers, and without one the services run on Linux only; start Docker and try again.",
        ));
    }
    install::missing(repo, services)?;
    let account = Account::for_servers()?;
    for service in services {
        up_one(state, service, &account)?;
    }
    Ok(())
}

/// Ends a service, and whatever of it a lost memory no longer knows.
pub(crate) fn down(state: &mut State, service: &Service) -> Outcome {
    let places = site::places(&state.home().join(service.name));
    let remembered = remembered(state, service).into_iter();
    for directory in remembered.chain(places) {
        end_and_remove(service, &directory)?;
    }
    match state.get(service) {
        Some(record) if record.native.is_some() => state.forget(service),
        _ => Ok(()),
    }
}

fn up_one(state: &mut State, service: &Service, account: &Account) -> Outcome {
    let Err(first) = ensure(state, service, account) else {
        return Ok(());
    };
    // The port was taken in the meantime, or the data is damaged.
    eprintln!(
        "{first}\n{} is tried once more, with nothing kept",
        service.name
    );
    if let Some(directory) = remembered(state, service) {
        end_and_remove(service, &directory)?;
    }
    ensure(state, service, account)
}

/// Leaves a running, ready service where it is, and starts any other in the
/// place it had, or in a new one.
fn ensure(state: &mut State, service: &Service, account: &Account) -> Outcome {
    let running = running(state, service);
    let directory = place(state, service, account)?;
    if running.is_none() {
        server::end(&service.kind, &directory)?;
    }
    let port = match (&running, state.get(service)) {
        (Some(_), Some(record)) => record.port,
        (_, record) => port::keep_or_choose(record.map(|record| record.port))?,
    };
    let upstream = service.needs.and_then(|name| state.port(name));
    let site = Site {
        account: *account,
        directory,
        port,
    };
    note(state, service, &site, running.clone())?;
    let changed = (service.prepare)(&site, upstream)?;
    if running.is_some() && !changed {
        return Ok(());
    }
    server::end(&service.kind, &site.directory)?;
    let process = start(service, &site)?;
    note(state, service, &site, Some(process))
}

fn start(service: &Service, site: &Site) -> Outcome<Process> {
    let what = format!("{}: starting on port {}", service.name, site.port);
    progress::step(&what, server::READY, || {
        let command = (service.command)(site)?;
        Ok(server::start(&service.kind, site, command)?)
    })
}

/// The process of a service that needs nothing done.
fn running(state: &State, service: &Service) -> Option<Process> {
    let record = state.get(service)?;
    let process = record.native.as_ref()?.process.clone()?;
    (process.lives() && (service.kind.ready)(record.port)).then_some(process)
}

/// The directory it had, if that is still there, or a new one.
fn place(state: &State, service: &Service, account: &Account) -> Outcome<PathBuf> {
    match remembered(state, service).filter(|directory| directory.is_dir()) {
        Some(directory) => Ok(directory),
        None => {
            let usual = state.home().join(service.name);
            for left in site::places(&usual) {
                end_and_remove(service, &left)?;
            }
            Ok(site::new_directory(&usual, account)?)
        }
    }
}

fn remembered(state: &State, service: &Service) -> Option<PathBuf> {
    let native = state.get(service)?.native.as_ref()?;
    Some(native.directory.clone())
}

fn note(state: &mut State, service: &Service, site: &Site, process: Option<Process>) -> Outcome {
    let record = Record {
        port: site.port,
        native: Some(Native {
            directory: site.directory.clone(),
            process,
        }),
    };
    state.set(service, record)
}

/// Whatever of the service works there, and what it has written.
fn end_and_remove(service: &Service, directory: &Path) -> Outcome {
    server::end(&service.kind, directory)?;
    if !directory.exists() {
        return Ok(());
    }
    fs::remove_dir_all(directory).map_err(|error| files::unusable(directory, &error))
}
