//! Running the services with `docker compose`, where there is an engine. The
//! services are described in `docker-compose.yml`; Docker chooses their ports,
//! and is asked for them.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run::{self, Ended};

use super::list::Service;
use super::progress;
use super::record::Record;
use super::state::State;

/// For questions the engine answers at once.
const QUESTION: Duration = Duration::from_secs(20);

/// For fetching images and waiting until the services are healthy.
const UP: Duration = Duration::from_secs(600);

/// For stopping and removing them.
const DOWN: Duration = Duration::from_secs(120);

/// Whether both the engine and the compose plugin are there.
pub(crate) fn has_engine(repo: &Repo) -> bool {
    let mut ask = docker(repo);
    ask.args(["ls", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    matches!(run::within(&mut ask, QUESTION), Ok(Ended::Exited(status)) if status.success())
}

/// Starts the services, waits until they are healthy, and remembers them.
pub(crate) fn up(repo: &Repo, state: &mut State, services: &[&Service]) -> Outcome {
    let mut up = docker(repo);
    up.args(["up", "--detach", "--wait"])
        .args(containers(services))
        .stdout(std::io::stderr());
    progress::step("docker compose up", UP, || run::finish_within(&mut up, UP))?;
    for service in services {
        let port = port(repo, service)?;
        state.set(service, Record { port, native: None })?;
    }
    Ok(())
}

/// A container may have several services in it; they are next to each other.
fn containers(services: &[&Service]) -> Vec<&'static str> {
    let mut names: Vec<&str> = services.iter().map(|service| service.container).collect();
    names.dedup();
    names
}

/// Stops the services and removes what they stored.
pub(crate) fn down(repo: &Repo) -> Outcome {
    let mut down = docker(repo);
    down.args(["down", "--volumes", "--timeout", "5"])
        .stdout(std::io::stderr());
    progress::step("docker compose down", DOWN, || {
        run::finish_within(&mut down, DOWN)
    })
}

fn port(repo: &Repo, service: &Service) -> Outcome<u16> {
    let mut ask = docker(repo);
    ask.args(["port", service.container, &service.inside.to_string()]);
    let answer = run::output_within(&mut ask, QUESTION)?;
    parse_port(&answer).ok_or_else(|| {
        Failure::failed(format!(
            "Docker does not tell the port of {}; see `docker compose ps`.",
            service.name
        ))
    })
}

/// Docker answers with an address, such as `127.0.0.1:49153`.
fn parse_port(answer: &str) -> Option<u16> {
    let (_, port) = answer.trim().rsplit_once(':')?;
    port.parse().ok().filter(|port| *port != 0)
}

fn docker(repo: &Repo) -> Command {
    let mut docker = repo.program("docker".as_ref());
    docker.arg("compose");
    docker
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_what_follows_the_last_colon() {
        assert_eq!(parse_port("127.0.0.1:49153\n"), Some(49153));
        assert_eq!(parse_port("[::1]:49153"), Some(49153));
    }

    #[test]
    fn a_port_that_is_not_published_is_none() {
        assert_eq!(parse_port(""), None);
        assert_eq!(parse_port(":0"), None);
        assert_eq!(parse_port("no such service"), None);
    }
}
