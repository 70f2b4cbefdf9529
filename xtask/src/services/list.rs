//! Which services there are, and in which variable tests look for each. This
//! is the list to extend when a backend needs a server.

use std::process::Command;

use lockwork_servers::server::Kind;
use lockwork_servers::site::Site;
use lockwork_servers::{login, pgbouncer::setup as bouncer, postgres::setup as server};

use crate::outcome::{Failure, Outcome};

use super::native::{pgbouncer, postgres};

/// One service: what both ways of running it have in common, and how it is
/// run as a plain process. Its name is also its name in docker-compose.yml.
pub(crate) struct Service {
    pub(crate) name: &'static str,
    /// Where tests look for its address.
    pub(crate) variable: &'static str,
    /// The service that must run before it.
    pub(crate) needs: Option<&'static str>,
    /// The port it listens on in its container.
    pub(crate) inside: u16,
    /// Its address, by its port on this machine.
    pub(crate) url: fn(u16) -> String,
    /// The Debian package that has its program.
    pub(crate) package: &'static str,
    /// Its program, and how that is asked and ended.
    pub(crate) kind: Kind,
    /// Readies its directory, told the port of the service it needs; true when
    /// what runs there must be started anew.
    pub(crate) prepare: fn(&Site, Option<u16>) -> Outcome<bool>,
    /// What starts it in the foreground, once nothing of it runs any more.
    pub(crate) command: fn(&Site) -> Outcome<Command>,
}

/// All services, each after the one it needs.
pub(crate) const SERVICES: &[Service] = &[
    Service {
        name: "postgres",
        variable: "LOCKWORK_POSTGRES_URL",
        needs: None,
        inside: 5432,
        url: login::url,
        package: "postgresql",
        kind: server::KIND,
        prepare: postgres::prepare,
        command: postgres::command,
    },
    Service {
        name: "pgbouncer",
        variable: "LOCKWORK_PGBOUNCER_URL",
        needs: Some("postgres"),
        inside: 5432,
        url: login::url,
        package: "pgbouncer",
        kind: bouncer::KIND,
        prepare: pgbouncer::prepare,
        command: pgbouncer::command,
    },
];

/// The services named, with those they need, in the order of the table.
pub(crate) fn choose(names: &[&str]) -> Outcome<Vec<&'static Service>> {
    let known = |name: &&&str| SERVICES.iter().any(|service| service.name == **name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let known: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
        return Err(Failure::usage(format!(
            "There is no service `{unknown}`; the services are {}.",
            known.join(", ")
        )));
    }
    let mut wanted = names.to_vec();
    for service in SERVICES.iter().rev() {
        if wanted.contains(&service.name) {
            wanted.extend(service.needs);
        }
    }
    let chosen = |service: &&Service| wanted.contains(&service.name);
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
            assert!(file.contains(&format!("\n  {}:\n", service.name)));
        }
    }
}
