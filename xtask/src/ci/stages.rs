//! What each stage of `ci` runs. The order of the table is the order of the
//! run: what is quick to fail comes first.
//!
//! Which of them keep a change out, and which are looked at beside it, is decision 24.

use std::time::Duration;

use crate::metadata;
use crate::mutants;
use crate::outcome::Outcome;
use crate::repo::Repo;
use crate::run::{run, run_within};
use crate::{bench, test, tree};

/// One stage: its name in the log, when it runs in a whole run, and what it does.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) lane: Lane,
    pub(crate) run: fn(&Repo) -> Outcome,
}

/// When a stage of a whole run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Before all others: it is quick.
    First,
    /// After the first ones: what makes programs, by the linter.
    Build,
    /// With these, in a process of its own: what waits for the network.
    Beside,
    /// When both are over: what tests.
    Last,
    /// Only when it is named, on a machine of its own: what compiles everything once more in another way.
    Apart,
}

/// All stages, in order.
pub(crate) const STAGES: &[Stage] = &[
    stage("fmt", Lane::First, fmt),
    stage("package", Lane::First, package),
    stage("patches", Lane::First, mutants::still_apply),
    stage("tree", Lane::First, |repo| tree::tree(repo, &[])),
    stage("services", Lane::Beside, |repo| {
        test::servers(repo).map(drop)
    }),
    stage("build", Lane::Build, |repo| test::build(repo).map(drop)),
    stage("doctests", Lane::Build, test::doctests),
    stage("test", Lane::Last, test::programs),
    stage("examples", Lane::Last, examples),
    stage("clippy", Lane::Apart, clippy),
    stage("rustdoc", Lane::Apart, rustdoc),
    stage("features", Lane::Apart, features),
    stage("benches", Lane::Apart, bench::still_compile),
];

/// How long one example may run; each is meant to end within seconds.
const EXAMPLE_LIMIT: Duration = Duration::from_secs(60);

const fn stage(name: &'static str, lane: Lane, run: fn(&Repo) -> Outcome) -> Stage {
    Stage { name, lane, run }
}

fn fmt(repo: &Repo) -> Outcome {
    run(repo.cargo().args(["fmt", "--all", "--check"]))
}

fn clippy(repo: &Repo) -> Outcome {
    run(repo
        .cargo()
        .args(["clippy", "--workspace", "--all-targets"])
        .args(["--profile", "ci", "--locked", "--", "-D", "warnings"]))
}

fn rustdoc(repo: &Repo) -> Outcome {
    run(repo
        .cargo()
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace", "--no-deps"])
        .args(["--locked", "--profile", "ci"]))
}

/// Each feature alone: a feature that leans on another by accident compiles in
/// every build that happens to enable both.
fn features(repo: &Repo) -> Outcome {
    for (package, feature) in metadata::alone(&metadata::crates(repo)?) {
        let mut cargo = repo.cargo();
        cargo.args(["check", "--profile", "ci", "--locked"]).args([
            "-p",
            package,
            "--no-default-features",
        ]);
        if let Some(feature) = feature {
            cargo.args(["--features", feature]);
        }
        run(&mut cargo)?;
    }
    Ok(())
}

/// The lock file stays out: to write it, cargo asks the registry's index, and
/// this stage should not need the network.
fn package(repo: &Repo) -> Outcome {
    let mut cargo = repo.cargo();
    cargo
        .args(["package", "--no-verify", "--locked", "--allow-dirty"])
        .arg("--exclude-lockfile");
    for package in metadata::packages(repo)? {
        if package.publishable {
            cargo.args(["-p", &package.name]);
        }
    }
    run(&mut cargo)
}

/// Those that `build` has made.
fn examples(repo: &Repo) -> Outcome {
    let packages = metadata::crates(repo)?;
    let lockwork = packages.iter().filter(|package| package.name == "lockwork");
    for example in lockwork.flat_map(|package| &package.examples) {
        let place = repo.target().join("ci/examples").join(example);
        run_within(&mut repo.program(&place), EXAMPLE_LIMIT)?;
    }
    Ok(())
}
