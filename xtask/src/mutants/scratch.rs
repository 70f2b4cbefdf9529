//! The copy of the tree in which the breakages are tried, and what is done in
//! it: laying patches on, taking them off, and calling `cargo test`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services::Variable;
use crate::test;

use super::patch::Patch;

/// The copy. Only one process at a time works in it: the lock file is held
/// as long as this value lives.
pub(crate) struct Scratch {
    home: PathBuf,
    /// Where the tests find the services.
    servers: Vec<Variable>,
    _held: File,
}

impl Scratch {
    /// Takes the lock and makes the copy equal to the working tree.
    pub(crate) fn prepare(repo: &Repo) -> Outcome<Self> {
        let home = repo.root().join("target/mutants");
        for directory in ["tree", "logs"] {
            let directory = home.join(directory);
            fs::create_dir_all(&directory).map_err(|error| files::unusable(&directory, &error))?;
        }
        let scratch = Self {
            _held: hold(&home.join("lock"))?,
            servers: test::servers(repo)?,
            home,
        };
        scratch.sync(repo)?;
        Ok(scratch)
    }

    /// Where the output of one run is kept.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.home.join("logs").join(format!("{name}.log"))
    }

    /// Lays a patch on; false when it does not fit.
    pub(crate) fn apply(&self, repo: &Repo, patch: &Patch) -> Outcome<bool> {
        let mut git = self.git_apply(repo, patch);
        run::succeeds(git.stderr(Stdio::null()))
    }

    /// Takes a patch off again.
    pub(crate) fn unapply(&self, repo: &Repo, patch: &Patch) -> Outcome {
        run::output(self.git_apply(repo, patch).arg("--reverse")).map(drop)
    }

    /// `cargo test` in the copy, its own target directory, output to `log`.
    pub(crate) fn cargo_test(&self, repo: &Repo, log: &Path) -> Outcome<Command> {
        let unusable = |error| files::unusable(log, &error);
        let out = File::create(log).map_err(unusable)?;
        let err = out.try_clone().map_err(unusable)?;
        let mut cargo = repo.cargo();
        cargo
            .args(["test", "--profile", "ci", "--locked"])
            .current_dir(self.tree())
            .env("CARGO_TARGET_DIR", self.home.join("target"))
            // The log is searched for words, which colour would cut apart.
            .env("CARGO_TERM_COLOR", "never")
            .envs(self.servers.iter().map(|(name, url)| (name, url)))
            .stdout(out)
            .stderr(err);
        test::require_backends(&mut cargo);
        Ok(cargo)
    }

    fn tree(&self) -> PathBuf {
        self.home.join("tree")
    }

    /// "When running from a subdirectory in a repository, patched paths outside
    /// the directory are ignored" (git-apply(1)), without a word, and the copy
    /// is a subdirectory of one. The ceiling keeps git from seeing it.
    fn git_apply(&self, repo: &Repo, patch: &Patch) -> Command {
        let mut git = repo.git();
        git.args(["apply", "--whitespace=nowarn"])
            .arg(&patch.file)
            .current_dir(self.tree())
            .env("GIT_CEILING_DIRECTORIES", &self.home)
            // Set when a git hook runs the chore.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE");
        git
    }

    /// Copies what differs and removes what is gone. Cargo rebuilds a file that
    /// is newer than the last build, so equal files keep their time, and
    /// changed ones get the time of the copy rather than the original's: that
    /// may be older than the build of a breakage an interrupted run left here.
    fn sync(&self, repo: &Repo) -> Outcome {
        let tree = self.tree();
        let wanted = listed(repo)?;
        for path in &wanted {
            copy_if_different(&repo.root().join(path), &tree.join(path))?;
        }
        for file in files::under(&tree)? {
            if !wanted.contains(file.strip_prefix(&tree).unwrap_or(&file)) {
                fs::remove_file(&file).map_err(|error| files::unusable(&file, &error))?;
            }
        }
        Ok(())
    }
}

fn hold(path: &Path) -> Outcome<File> {
    let file = File::create(path).map_err(|error| files::unusable(path, &error))?;
    file.try_lock().map_err(|_| {
        Failure::failed("Another `cargo xtask mutants` works in this tree; wait until it ends.")
    })?;
    Ok(file)
}

/// The files git knows or would take, as paths from the root. A file deleted
/// but not yet committed is listed by git and left out here.
fn listed(repo: &Repo) -> Outcome<HashSet<PathBuf>> {
    let mut git = repo.git();
    git.args(["ls-files", "-z", "-co", "--exclude-standard"]);
    let names = String::from_utf8_lossy(&run::output(&mut git)?).into_owned();
    Ok(names
        .split_terminator('\0')
        .map(PathBuf::from)
        .filter(|path| repo.root().join(path).is_file())
        .collect())
}

fn copy_if_different(from: &Path, to: &Path) -> Outcome {
    let original = fs::read(from).map_err(|error| files::unusable(from, &error))?;
    if fs::read(to).is_ok_and(|copy| copy == original) {
        return Ok(());
    }
    let directory = to.parent().unwrap_or(to);
    fs::create_dir_all(directory).map_err(|error| files::unusable(directory, &error))?;
    fs::write(to, original).map_err(|error| files::unusable(to, &error))
}
