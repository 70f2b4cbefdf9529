//! `mutants`: the deliberate breakages kept in `tests/mutants`. They serve
//! whoever trusts the tests: each patch breaks one promise, and the test it
//! names must turn red, or that test proves nothing.
//!
//! The work happens in a copy of the tree under `target/mutants`, so a patch
//! never touches the files somebody is editing.

mod patch;
mod report;
mod scratch;
mod trial;
mod verdict;

use std::time::Instant;

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use patch::Patch;
use report::Report;
use scratch::Scratch;
use trial::Baseline;
use verdict::Verdict;

/// Runs the breakages named, or all of them.
pub(crate) fn mutants(repo: &Repo, args: &[String]) -> Outcome {
    let (flags, names): (Vec<&String>, Vec<&String>) =
        args.iter().partition(|arg| arg.starts_with('-'));
    if let Some(flag) = flags.iter().find(|flag| **flag != "--json") {
        return Err(Failure::usage(format!(
            "`cargo xtask mutants` knows no option `{flag}`; the only one is --json."
        )));
    }
    let patches = patch::choose(patch::all(repo)?, &names)?;
    run_all(repo, &patches, &Report::new(!flags.is_empty()))
}

/// Checks that every patch still has its header and still fits the tree.
pub(crate) fn still_apply(repo: &Repo) -> Outcome {
    for patch in patch::all(repo)? {
        let mut git = repo.git();
        git.args(["apply", "--check", "--whitespace=nowarn"]);
        run::run(git.arg(&patch.file))?;
    }
    Ok(())
}

fn run_all(repo: &Repo, patches: &[Patch], report: &Report) -> Outcome {
    let scratch = Scratch::prepare(repo)?;
    report.say("first every named test without its patch, to see it green");
    let baseline = Baseline::measure(repo, &scratch, patches)?;
    let mut failed = 0;
    for (index, patch) in patches.iter().enumerate() {
        let begun = Instant::now();
        let verdict = match baseline.fault(patch) {
            Some(log) => Verdict::NotGreenBefore { log },
            None => trial::try_patch(repo, &scratch, patch)?,
        };
        failed += usize::from(!verdict.passed());
        report.one(index + 1, patches.len(), patch, &verdict, begun.elapsed());
    }
    report.close(patches.len() - failed, failed);
    match failed {
        0 => Ok(()),
        _ => Err(Failure::AlreadySaid),
    }
}
