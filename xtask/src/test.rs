//! `test`: all tests of the workspace, doctests too, from a fresh clone.

use std::process::Command;

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services::{self, Variable};

/// The variable in which the conformance suite is told which backends it must
/// not skip.
const REQUIRE: &str = "LOCKWORK_REQUIRE";

/// The backends that need nothing a fresh clone does not have.
const ALWAYS_THERE: &str = "memory,memory+trace,memory+retry,memory+prefix,memory+metrics,\
                            memory+delays,memory+deaf,file,file-poll,file+layers,lease,session,\
                            postgres,postgres-least,postgres-lease,postgres-lease-pgbouncer,\
                            redis,redis-cluster,redis-quorum,redis-medallion,\
                            sqlserver,sqlserver-least,sqlserver-medallion,sqlserver-babelfish,\
                            azure,azure-sequence";

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

/// Runs every test; `args` go to `cargo test`.
pub(crate) fn test(repo: &Repo, args: &[String]) -> Outcome {
    run::run(suite(repo).envs(servers(repo)?).args(args))
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
