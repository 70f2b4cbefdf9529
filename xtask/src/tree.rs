//! `tree`: the shape of the workspace. It serves the reviewer, who should not
//! have to notice by eye that a crate leans on one it must not know, at whatever
//! distance, or that a module does not say what it is for.

mod arrows;
mod module_docs;
mod strangers;

use crate::metadata;
use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;

/// Checks the arrows between crates, what stands behind them, and the opening
/// line of every module.
pub(crate) fn tree(repo: &Repo, args: &[String]) -> Outcome {
    if !args.is_empty() {
        return Err(Failure::usage("`cargo xtask tree` takes no arguments."));
    }
    let mut faults = arrows::faults(&metadata::packages(repo)?);
    faults.extend(strangers::faults(repo)?);
    faults.extend(module_docs::faults(repo)?);
    if faults.is_empty() {
        return Ok(());
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    Err(Failure::failed(
        "The workspace is out of shape; mend what is listed above.",
    ))
}
