//! Which services there are, and in which variable tests look for each. This
//! is the list to extend when a backend needs a server.

use std::process::Command;

use lockwork_servers::server::Kind;
use lockwork_servers::site::Site;
use lockwork_servers::{pgbouncer::setup as bouncer, postgres::setup as server};

use crate::outcome::{Failure, Outcome};

use super::native::install::Needed;
use super::native::{azurite, pgbouncer, postgres, redis};
use super::url;

/// One service: what both ways of running it have in common, and how it is
/// run as a plain process.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) name: &'static str,
    /// Those that make sense together only, and have one address: the operator
    /// names them by it too.
    pub(crate) group: &'static str,
    /// Its name in docker-compose.yml.
    pub(crate) container: &'static str,
    /// Where tests look for the address of the group.
    pub(crate) variable: &'static str,
    /// The service, alone in its group, that must run before it.
    pub(crate) needs: Option<&'static str>,
    /// The port it listens on in its container.
    pub(crate) inside: u16,
    /// The address of the group, by its ports on this machine.
    pub(crate) url: fn(&[u16]) -> String,
    /// The programs it needs, and the Debian packages that have them.
    pub(crate) programs: &'static [Needed],
    /// Fetches, once, what no Debian package has.
    pub(crate) fetch: Option<fn() -> Outcome>,
    /// Its program, and how that is asked and ended.
    pub(crate) kind: Kind,
    /// Readies its directory, told the port of the service it needs; true when
    /// what runs there must be started anew.
    pub(crate) prepare: fn(&Site, Option<u16>) -> Outcome<bool>,
    /// What starts it in the foreground, once nothing of it runs any more.
    pub(crate) command: fn(&Site) -> Outcome<Command>,
    /// Makes one of the group, by its ports, once all of it runs.
    pub(crate) join: Option<fn(&[u16]) -> Outcome>,
}

/// All services, each after the one it needs.
pub(crate) const SERVICES: &[Service] = &[
    Service {
        name: "postgres",
        group: "postgres",
        container: "postgres",
        variable: "LOCKWORK_POSTGRES_URL",
        needs: None,
        inside: 5432,
        url: url::postgres,
        programs: &[(server::KIND.program, "postgresql")],
        fetch: None,
        kind: server::KIND,
        prepare: postgres::prepare,
        command: postgres::command,
        join: None,
    },
    Service {
        name: "pgbouncer",
        group: "pgbouncer",
        container: "pgbouncer",
        variable: "LOCKWORK_PGBOUNCER_URL",
        needs: Some("postgres"),
        inside: 5432,
        url: url::postgres,
        programs: &[(bouncer::KIND.program, "pgbouncer")],
        fetch: None,
        kind: bouncer::KIND,
        prepare: pgbouncer::prepare,
        command: pgbouncer::command,
        join: None,
    },
    redis::ALONE,
    redis::QUORUM[0],
    redis::QUORUM[1],
    redis::QUORUM[2],
    redis::CLUSTER[0],
    redis::CLUSTER[1],
    redis::CLUSTER[2],
    redis::PRIMARY,
    redis::REPLICA,
    azurite::ALONE,
];

/// The group of a service, in the order of the table.
pub(crate) fn group(service: &Service) -> impl Iterator<Item = &'static Service> {
    let name = service.group;
    SERVICES.iter().filter(move |other| other.group == name)
}

/// Whether it is the one that speaks for its group.
pub(crate) fn is_first(service: &Service) -> bool {
    group(service).next().map(|first| first.name) == Some(service.name)
}

/// The names of all groups, in the order of the table.
pub(crate) fn groups() -> Vec<&'static str> {
    let first = SERVICES.iter().filter(|service| is_first(service));
    first.map(|service| service.group).collect()
}

/// The groups named, with those they need, in the order of the table.
pub(crate) fn choose(names: &[&str]) -> Outcome<Vec<&'static Service>> {
    let known = groups();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(Failure::usage(format!(
            "There is no service `{unknown}`; the services are {}.",
            known.join(", ")
        )));
    }
    let mut wanted = names.to_vec();
    for service in SERVICES.iter().rev() {
        if wanted.contains(&service.group) {
            wanted.extend(service.needs);
        }
    }
    let chosen = |service: &&Service| wanted.contains(&service.group);
    Ok(SERVICES.iter().filter(chosen).collect())
}

/// Leaves out, with a word, what would have to go in front of a server that is
/// not ours: how that one wants to be reached is known to its owner only.
pub(crate) fn without_dependents(
    ours: Vec<&'static Service>,
    given: &[&Service],
) -> Vec<&'static Service> {
    let stays = |service: &&'static Service| {
        let Some(below) = given.iter().find(|g| service.needs == Some(g.name)) else {
            return true;
        };
        eprintln!(
            "{} is left out: {} names a server that was not started here. Set {} as well to have both.",
            service.name, below.variable, service.variable
        );
        false
    };
    ours.into_iter().filter(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(services: &[&'static Service]) -> Vec<&'static str> {
        services.iter().map(|service| service.name).collect()
    }

    #[test]
    fn naming_nothing_chooses_nothing() {
        assert!(choose(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_service_brings_what_it_needs_before_itself() {
        assert_eq!(
            names(&choose(&["pgbouncer"]).unwrap()),
            ["postgres", "pgbouncer"]
        );
        assert_eq!(names(&choose(&["postgres"]).unwrap()), ["postgres"]);
    }

    #[test]
    fn what_makes_sense_together_only_is_chosen_together() {
        let quorum = ["redis-quorum-1", "redis-quorum-2", "redis-quorum-3"];
        assert_eq!(names(&choose(&["redis-quorum"]).unwrap()), quorum);
    }

    #[test]
    fn an_unknown_service_is_a_usage_failure() {
        let failure = choose(&["oracle"]).err().unwrap();
        assert!(matches!(failure, Failure::Usage(_)));
        assert!(failure.to_string().contains("`oracle`"));
    }

    #[test]
    fn nothing_of_ours_goes_in_front_of_a_server_that_is_not() {
        let given = choose(&["postgres"]).unwrap();
        let ours = vec![&SERVICES[1]];
        assert!(without_dependents(ours, &given).is_empty());
    }

    #[test]
    fn docker_compose_knows_every_service() {
        let file = include_str!("../../../docker-compose.yml");
        for service in SERVICES {
            assert!(file.contains(&format!("\n  {}:\n", service.container)));
        }
    }
}
