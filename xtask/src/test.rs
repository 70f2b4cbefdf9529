//! `test`: all tests of the workspace, doctests too, from a fresh clone.

mod lanes;
mod late;
mod programs;

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services::{self, Variable};
pub(crate) use programs::Program;

/// The variable in which the conformance suite is told which backends it must
/// not skip.
const REQUIRE: &str = "LOCKWORK_REQUIRE";

/// The backends that need nothing a fresh clone does not have.
const ALWAYS_THERE: &str = "memory,memory+trace,memory+retry,memory+prefix,memory+metrics,\
                            memory+delays,memory+deaf,file,file-poll,file+layers,lease,session,\
                            postgres,postgres-least,postgres-lease,postgres-lease-pgbouncer,\
                            redis,redis-cluster,redis-quorum,redis-medallion,\
                            sqlserver,sqlserver-least,sqlserver-medallion,sqlserver-babelfish,\
                            azure,azure-sequence,store-sqlite,store-postgres";

/// The services, by the names in `services/list.rs`, that are brought up for
/// the tests.
const NEEDED: &[&str] = &[
    "postgres",
    "pgbouncer",
    "redis",
    "redis-quorum",
    "redis-cluster",
    "azurite",
];

/// Runs every test, several programs at once; or those that `args` mean to `cargo test`, as it runs them.
pub(crate) fn test(repo: &Repo, args: &[String]) -> Outcome {
    let variables = servers(repo)?;
    if !args.is_empty() {
        return run::run(suite(repo).envs(variables).args(args));
    }
    doctests(repo)?;
    in_lanes(repo, &variables)
}

/// Runs every test that is a program.
pub(crate) fn programs(repo: &Repo) -> Outcome {
    in_lanes(repo, &servers(repo)?)
}

fn in_lanes(repo: &Repo, variables: &[Variable]) -> Outcome {
    let logs = repo.target().join("tests");
    lanes::run(build(repo)?, &logs, require_backends, variables)
}

/// Builds every test that is a program, and every example.
pub(crate) fn build(repo: &Repo) -> Outcome<Vec<Program>> {
    programs::build(&mut suite(repo))
}

/// Runs the examples of the documentation, which need no server.
pub(crate) fn doctests(repo: &Repo) -> Outcome {
    run::run(suite(repo).arg("--doc"))
}

/// Brings up the services for the tests, and returns the variables in which
/// tests look for them. Tests that kill a server start their own, so its
/// program is needed even where a container runs the service.
pub(crate) fn servers(repo: &Repo) -> Outcome<Vec<Variable>> {
    let variables = services::environment(repo, NEEDED)?;
    services::install(repo, NEEDED)?;
    Ok(variables)
}

/// How many names one machine may well use in a year.
const A_MILLION: &str = "1000000";

/// The test of names used once, with many more of them than in every run.
pub(crate) fn names(repo: &Repo, args: &[String]) -> Outcome {
    let count = match args {
        [] => A_MILLION,
        [count] if count.parse::<u32>().is_ok() => count,
        _ => {
            let message = "Say how many names: `cargo xtask names 1000000`.";
            return Err(Failure::usage(message.to_owned()));
        }
    };
    run::run(
        repo.cargo()
            .args(["test", "--profile", "ci", "--locked", "-p", "lockwork-file"])
            .args(["--test", "sweeping", "--", "--nocapture"])
            .env("LOCKWORK_NAMES", count),
    )
}

/// The tests of this target of the suite whose names begin so, one after another, with chances by this seed.
pub(crate) fn with_seed(repo: &Repo, target: &str, beginning: &str, seed: u64) -> Command {
    let mut cargo = repo.cargo();
    cargo
        .args(["test", "--profile", "ci", "--locked"])
        .args(["-p", "lockwork-conformance", "--test", target])
        .args(["--", "--nocapture", "--test-threads", "1", beginning])
        .env("LOCKWORK_SEED", seed.to_string());
    cargo
}

/// Another one each time; a run says which one it had.
pub(crate) fn a_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// `cargo test` of everything, in the profile of CI.
fn suite(repo: &Repo) -> Command {
    let mut cargo = repo.cargo();
    cargo.args(["test", "--workspace", "--profile", "ci", "--locked"]);
    require_backends(&mut cargo);
    cargo
}

/// Makes a missing backend a failure rather than a skip, unless the operator
/// already said which ones they require.
pub(crate) fn require_backends(command: &mut Command) {
    if std::env::var_os(REQUIRE).is_none() {
        command.env(REQUIRE, ALWAYS_THERE);
    }
}
