//! Installing the programs that are missing, on Debian and its kin, when that
//! takes no password, and fetching what is in no package there. Otherwise the
//! operator is told what to install.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use lockwork_servers::{account, programs};

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services::list::Service;

/// Run by root, it keeps the packages from starting servers of their own.
const SCRIPT: &str = include_str!("install.sh");

/// The script gives up earlier, and tidies up; this is for when it cannot.
const LIMIT: Duration = Duration::from_secs(1500);

/// A program and the Debian package that has it.
pub(crate) type Needed = (&'static str, &'static str);

/// What tests call besides the programs of the services: the networks they
/// cut, and the clocks they turn.
const FOR_TESTS: &[Needed] = &[("ip", "iproute2"), ("faketime", "faketime")];

/// Installs what the services need and this machine does not have.
pub(crate) fn missing(repo: &Repo, services: &[&Service]) -> Outcome {
    install(repo, &programs_of(services))?;
    fetch(services)
}

/// The same, with what tests need that start servers of their own.
pub(crate) fn for_tests(repo: &Repo, services: &[&Service]) -> Outcome {
    install(repo, &[&programs_of(services), FOR_TESTS].concat())?;
    fetch(services)
}

fn programs_of(services: &[&Service]) -> Vec<Needed> {
    let programs = services.iter().flat_map(|service| service.programs);
    programs.copied().collect()
}

fn fetch(services: &[&Service]) -> Outcome {
    let mut fetches = services.iter().filter_map(|service| service.fetch);
    fetches.try_for_each(|fetch| fetch())
}

fn install(repo: &Repo, needed: &[Needed]) -> Outcome {
    let packages = lacking(needed);
    if packages.is_empty() {
        return Ok(());
    }
    let mut script = by_root(repo).ok_or_else(|| cannot(&packages))?;
    eprintln!("installing {} with apt-get", packages.join(" and "));
    script
        .args(["sh", "-c", SCRIPT, "install.sh"])
        .args(&packages)
        .stdout(std::io::stderr());
    run::finish_within(&mut script, LIMIT).map_err(|_| did_not(&packages))?;
    match lacking(needed).as_slice() {
        [] => Ok(()),
        still => Err(did_not(still)),
    }
}

fn lacking(needed: &[Needed]) -> Vec<&'static str> {
    let lacking = needed
        .iter()
        .filter(|(program, _)| programs::find(program).is_none());
    let mut packages: Vec<&str> = lacking.map(|(_, package)| *package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// A command that runs the program named next as root, when there is apt-get
/// and a way to be root without being asked.
fn by_root(repo: &Repo) -> Option<Command> {
    let system = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !is_debian(&system) || programs::find("apt-get").is_none() {
        return None;
    }
    if account::is_root() {
        return Some(repo.program("env".as_ref()));
    }
    let sudo = || {
        let mut sudo = repo.program("sudo".as_ref());
        sudo.arg("--non-interactive");
        sudo
    };
    let mut trial = sudo();
    trial.arg("true").stderr(Stdio::null());
    run::succeeds(&mut trial).is_ok_and(|may| may).then(sudo)
}

/// Whether the system is Debian or says that it is like it: os-release(5).
fn is_debian(system: &str) -> bool {
    let mut pairs = system.lines().filter_map(|line| line.split_once('='));
    pairs.any(|(key, value)| {
        let mut words = value.trim_matches('"').split(' ');
        matches!(key, "ID" | "ID_LIKE") && words.any(|word| word == "debian")
    })
}

fn cannot(packages: &[&str]) -> Failure {
    Failure::failed(format!(
        "{} cannot be installed from here. Start Docker, which is enough for `up`; or run `sudo apt-get install --no-install-recommends {}` on Debian or Ubuntu, the packages that correspond elsewhere. Then run this again. A server that comes up by itself on installing is not needed and may be stopped.",
        packages.join(" and "),
        packages.join(" ")
    ))
}

fn did_not(packages: &[&str]) -> Failure {
    Failure::failed(format!(
        "{} could not be installed; what apt-get printed above says why. Mend that, or install by hand, and run this again.",
        packages.join(" and ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_is_known_by_its_name_or_as_a_likeness() {
        assert!(is_debian("NAME=x\nID=debian\n"));
        assert!(is_debian("ID=ubuntu\nID_LIKE=debian\n"));
        assert!(is_debian("ID=mint\nID_LIKE=\"ubuntu debian\"\n"));
        assert!(!is_debian("ID=fedora\nNAME=\"not debian\"\n"));
        assert!(!is_debian(""));
    }
}
