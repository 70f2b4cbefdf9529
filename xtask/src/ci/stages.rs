//! What each stage of `ci` runs. The order of the table is the order of the
//! run: what is quick to fail comes first.

use std::time::Duration;

use crate::metadata::{self, Example};
use crate::mutants;
use crate::outcome::Outcome;
use crate::repo::Repo;
use crate::run::{run, run_within};
use crate::{bench, test, tree};

/// One stage: its name in the log and what it does.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Repo) -> Outcome,
}

/// All stages, in order.
pub(crate) const STAGES: &[Stage] = &[
    stage("fmt", fmt),
    stage("clippy", clippy),
    stage("rustdoc", rustdoc),
    stage("features", features),
    stage("package", package),
    stage("patches", mutants::still_apply),
    stage("tree", |repo| tree::tree(repo, &[])),
    stage("benches", bench::still_compile),
    stage("test", |repo| test::test(repo, &[])),
    stage("examples", examples),
];

/// How long one example may run; each is meant to end within seconds.
const EXAMPLE_LIMIT: Duration = Duration::from_secs(60);

const fn stage(name: &'static str, run: fn(&Repo) -> Outcome) -> Stage {
    Stage { name, run }
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
    for package in metadata::crates(repo)? {
        let check = || {
            let mut cargo = repo.cargo();
            cargo.args(["check", "--profile", "ci", "--locked"]).args([
                "-p",
                &package.name,
                "--no-default-features",
            ]);
            cargo
        };
        run(&mut check())?;
        for feature in &package.features {
            run(check().args(["--features", feature]))?;
        }
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

fn examples(repo: &Repo) -> Outcome {
    let packages = metadata::crates(repo)?;
    let lockwork = packages.iter().filter(|package| package.name == "lockwork");
    for example in lockwork.flat_map(|package| &package.examples) {
        // Built first, so that the limit is for the example and not for rustc.
        run(&mut on_example(repo, "build", example))?;
        run_within(&mut on_example(repo, "run", example), EXAMPLE_LIMIT)?;
    }
    Ok(())
}

fn on_example(repo: &Repo, verb: &str, example: &Example) -> std::process::Command {
    let mut cargo = repo.cargo();
    cargo.args([verb, "--profile", "ci", "--locked"]).args([
        "-p",
        "lockwork",
        "--example",
        &example.name,
    ]);
    if !example.features.is_empty() {
        cargo.args(["--features", &example.features.join(",")]);
    }
    cargo
}
