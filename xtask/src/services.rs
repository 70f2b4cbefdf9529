//! `up`, `down`, `status`: the servers that tests of backends talk to. They
//! serve the contributor who has none running and wants none to stay: Docker
//! runs them where there is an engine, and otherwise they run as plain
//! processes with private ports and directories.
//!
//! Standard output belongs to programs: the `export` lines of `up`, the lines
//! of `status --json`. What people read on the way goes to standard error.

mod compose;
mod given;
mod list;
mod native;
mod progress;
mod record;
mod report;
mod state;
mod url;

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use list::Service;
use state::State;

/// A variable and its value, as tests want to find it in their environment.
pub(crate) type Variable = (&'static str, String);

/// Starts the services named, or all, and says how to reach them.
pub(crate) fn up(repo: &Repo, names: &[String]) -> Outcome {
    let all = list::groups();
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = if named.is_empty() { all } else { named };
    for (variable, url) in environment(repo, &wanted)? {
        println!("export {variable}={}", quoted(&url));
    }
    Ok(())
}

/// A value as a shell reads it, whatever is in it.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Stops everything and removes its data.
pub(crate) fn down(repo: &Repo, args: &[String]) -> Outcome {
    if !args.is_empty() {
        return Err(Failure::usage(
            "`cargo xtask down` takes no arguments; it stops all services.",
        ));
    }
    let mut state = State::take(repo)?;
    for service in list::SERVICES.iter().rev() {
        native::down(&mut state, service)?;
    }
    if state.in_compose() {
        compose::down(repo)?;
    }
    state.destroy()
}

/// Tells each service with its address, its process and its health.
pub(crate) fn status(repo: &Repo, args: &[String]) -> Outcome {
    let json = match args {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => {
            return Err(Failure::usage(
                "`cargo xtask status` takes nothing but --json.",
            ));
        }
    };
    report::print(&State::look(repo), json);
    Ok(())
}

/// Brings up what is named, with what that needs, and returns the variables to
/// hand to tests. Naming nothing starts nothing.
pub(crate) fn environment(repo: &Repo, names: &[&str]) -> Outcome<Vec<Variable>> {
    let wanted = list::choose(names)?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut state = State::take(repo)?;
    let (given, ours): (Vec<&Service>, Vec<&Service>) = wanted
        .into_iter()
        .partition(|service| state.given(service).is_some());
    let ours = list::without_dependents(ours, &given);
    if !ours.is_empty() {
        start(repo, &mut state, &ours)?;
    }
    let variable = |service: &Service| Some((service.variable, state.url(service)?));
    let reached = given.into_iter().chain(ours);
    let spoken_for = reached.filter(|service| list::is_first(service));
    Ok(spoken_for.filter_map(variable).collect())
}

/// Installs the programs of what is named, and what else tests call, where
/// they are missing. Where that cannot be, the operator is told, and the tests
/// that need them fail or show as ignored.
pub(crate) fn install(repo: &Repo, names: &[&str]) -> Outcome {
    if let Err(failure) = native::install::for_tests(repo, &list::choose(names)?) {
        eprintln!("{failure}");
    }
    Ok(())
}

/// What was started one way is not started a second time the other way.
fn start(repo: &Repo, state: &mut State, services: &[&'static Service]) -> Outcome {
    if !state.in_processes() && compose::has_engine(repo) {
        compose::up(repo, state, services)?;
    } else {
        native::up(repo, state, services)?;
    }
    join(state, services)
}

/// Makes one of each group that is more than its parts.
fn join(state: &State, services: &[&'static Service]) -> Outcome {
    for service in services.iter().filter(|service| list::is_first(service)) {
        let ports = state.ports(service);
        if let (Some(join), Some(ports)) = (service.join, ports) {
            join(&ports)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_an_address_does_not_end_it() {
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
