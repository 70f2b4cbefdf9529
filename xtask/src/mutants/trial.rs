//! Trying the breakages one by one: first every named test as it is, then each
//! one with its patch laid on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files;
use crate::outcome::Outcome;
use crate::repo::Repo;
use crate::run::{self, Ended};

use super::patch::Patch;
use super::scratch::Scratch;
use super::verdict::{self, Verdict};

/// How long one test may run once it is built.
const LIMIT: Duration = Duration::from_secs(180);

/// Which of the named tests are green without any patch.
pub(crate) struct Baseline {
    /// The log of each command that was not, by its arguments.
    faults: BTreeMap<Vec<String>, Option<PathBuf>>,
}

impl Baseline {
    /// Runs each named test once, however many patches name it.
    pub(crate) fn measure(repo: &Repo, scratch: &Scratch, patches: &[Patch]) -> Outcome<Self> {
        let mut faults = BTreeMap::new();
        for patch in patches {
            if !faults.contains_key(&patch.red) {
                let log = scratch.log(&format!("{}.before", patch.name));
                let green = is_green(repo, scratch, patch, &log)?;
                faults.insert(patch.red.clone(), (!green).then_some(log));
            }
        }
        Ok(Self { faults })
    }

    /// The log that shows why the test of this patch cannot be trusted.
    pub(crate) fn fault(&self, patch: &Patch) -> Option<PathBuf> {
        self.faults.get(&patch.red).cloned().flatten()
    }
}

fn is_green(repo: &Repo, scratch: &Scratch, patch: &Patch, log: &Path) -> Outcome<bool> {
    if !builds(repo, scratch, patch, log)? {
        return Ok(false);
    }
    let ended = run_test(repo, scratch, patch, log)?;
    Ok(verdict::is_one_green_test(ended, &files::read(log)?))
}

/// Lays the patch on, runs its test, and takes the patch off again.
pub(crate) fn try_patch(repo: &Repo, scratch: &Scratch, patch: &Patch) -> Outcome<Verdict> {
    if !scratch.apply(repo, patch)? {
        return Ok(Verdict::DoesNotApply);
    }
    let verdict = judge_applied(repo, scratch, patch);
    scratch.unapply(repo, patch)?;
    verdict
}

fn judge_applied(repo: &Repo, scratch: &Scratch, patch: &Patch) -> Outcome<Verdict> {
    let log = scratch.log(&patch.name);
    if !builds(repo, scratch, patch, &log)? {
        return Ok(Verdict::DoesNotCompile { log });
    }
    let ended = run_test(repo, scratch, patch, &log)?;
    Ok(verdict::judge(ended, &files::read(&log)?, log))
}

/// Building is apart from running: a compile error also makes `cargo test`
/// fail, and the limit is for the test and not for rustc.
fn builds(repo: &Repo, scratch: &Scratch, patch: &Patch, log: &Path) -> Outcome<bool> {
    let mut cargo = scratch.cargo_test(repo, log)?;
    run::succeeds(cargo.arg("--no-run").args(&patch.red))
}

fn run_test(repo: &Repo, scratch: &Scratch, patch: &Patch, log: &Path) -> Outcome<Ended> {
    let mut cargo = scratch.cargo_test(repo, log)?;
    run::within(cargo.args(&patch.red), LIMIT)
}
