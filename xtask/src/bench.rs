//! `bench`: the benchmarks, which live outside the workspace so that what they
//! compare against never enters its lock file.

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;

const MANIFEST: &str = "benches/Cargo.toml";

/// Whether the benchmarks still go with the crates they measure. Nothing is measured, and what the other
/// stages have checked of the crates both need is used again.
pub(crate) fn still_compile(repo: &Repo) -> Outcome {
    let mut cargo = repo.cargo();
    cargo
        .args(["clippy", "--all-targets", "--profile", "ci", "--locked"])
        .args(["--manifest-path", MANIFEST, "--", "-D", "warnings"]);
    run::run(cargo.env("CARGO_TARGET_DIR", repo.target()))
}

/// Builds the benchmarks with optimisation and runs them with `args`.
pub(crate) fn bench(repo: &Repo, args: &[String]) -> Outcome {
    if !repo.root().join(MANIFEST).is_file() {
        return Err(Failure::failed(format!(
            "There is no {MANIFEST} yet, so there is nothing to measure; add the package first."
        )));
    }
    // All of it first: one binary asks another, which counts allocations in a process of its own.
    run::run(on_release(repo, "build").arg("--bins"))?;
    run::run(on_release(repo, "run").arg("--").args(args))
}

fn on_release(repo: &Repo, verb: &str) -> std::process::Command {
    let mut cargo = repo.cargo();
    cargo
        .args([verb, "--release", "--locked", "--manifest-path", MANIFEST])
        .env("CARGO_TARGET_DIR", repo.root().join("target/bench"));
    cargo
}
