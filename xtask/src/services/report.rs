//! What `status` prints: a table for people, without passwords, or one JSON
//! object a line for scripts, with them.

use lockwork_servers::process::Process;
use serde_json::{Value, json};

use crate::paint;

use super::list::{SERVICES, Service};
use super::record::{Native, Record};
use super::state::State;
use super::url;

/// How a service is.
#[derive(Clone, Copy, PartialEq)]
enum Health {
    /// Ready for clients.
    Healthy,
    /// Something runs, and is not ready or is frozen.
    Silent,
    /// It was started, and its process is gone.
    Dead,
    /// The environment names one; it is taken on trust.
    Given,
    /// It was not started.
    Off,
}

impl Health {
    fn of(state: &State, service: &Service) -> Self {
        if state.given(service).is_some() {
            return Self::Given;
        }
        match state.get(service) {
            None => Self::Off,
            Some(record) if is_dead(record) => Self::Dead,
            Some(record) if (service.kind.ready)(record.port) => Self::Healthy,
            Some(_) => Self::Silent,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Silent => "silent",
            Self::Dead => "dead",
            Self::Given => "given",
            Self::Off => "off",
        }
    }
}

fn is_dead(record: &Record) -> bool {
    let lives = |native: &Native| native.process.as_ref().is_some_and(Process::lives);
    record.native.as_ref().is_some_and(|native| !lives(native))
}

/// Prints every service.
pub(crate) fn print(state: &State, as_json: bool) {
    if !as_json {
        println!("{:<17}{:<9}{:<9}url", "service", "health", "pid");
    }
    for service in SERVICES {
        let health = Health::of(state, service);
        if as_json {
            println!("{}", json(state, service, health));
        } else {
            println!("{}", row(state, service, health));
        }
    }
}

fn json(state: &State, service: &Service, health: Health) -> Value {
    let ours = state.get(service).filter(|_| health != Health::Given);
    let mut value = ours.map_or_else(|| json!({}), Record::to_json);
    value["service"] = service.name.into();
    value["health"] = health.word().into();
    value["variable"] = service.variable.into();
    value["url"] = state.url(service).into();
    value
}

fn row(state: &State, service: &Service, health: Health) -> String {
    let paint = paint::stdout();
    let word = format!("{:<9}", health.word());
    let word = match health {
        Health::Healthy | Health::Given => paint.green(&word),
        Health::Silent | Health::Dead => paint.red(&word),
        Health::Off => paint.dim(&word),
    };
    let native = state.get(service).and_then(|record| record.native.as_ref());
    let process = native.and_then(|native| native.process.as_ref());
    let pid = match (health, process) {
        (Health::Healthy | Health::Silent | Health::Dead, Some(process)) => process.pid.to_string(),
        (Health::Healthy | Health::Silent, None) => "docker".to_owned(),
        _ => "-".to_owned(),
    };
    let url = state
        .url(service)
        .map_or_else(|| "-".to_owned(), |url| url::masked(&url));
    format!("{:<17}{word}{pid:<9}{url}", service.name)
}
