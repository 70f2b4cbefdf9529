//! Where the repository is, and the two programs every chore calls in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::outcome::{Failure, Outcome};

/// The working tree this xtask was built from.
pub(crate) struct Repo {
    root: PathBuf,
    /// Whether our own crates are compiled by the linter.
    lints: bool,
}

/// What cargo compiles our own crates with when they are to be linted: the compiler, which says more.
const LINTER: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    // As `cargo clippy -- -D warnings` hands it on.
    (
        "CLIPPY_ARGS",
        "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
    ),
];

impl Repo {
    /// Finds the tree from the place of this package, so that the chores work
    /// from any directory inside it.
    pub(crate) fn find() -> Outcome<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize().map_err(|error| {
            Failure::failed(format!(
                "The repository is no longer at {} ({error}); run `cargo xtask` inside it so that it is built anew.",
                root.display()
            ))
        })?;
        Ok(Self { root, lints: false })
    }

    /// The same tree for those who compile all of it anyway: warnings of the linter are errors. `cargo clippy` says the
    /// same, and looks at everything we depend on once more for that.
    pub(crate) fn linting(&self) -> Self {
        Self {
            root: self.root.clone(),
            lints: true,
        }
    }

    /// The top directory of the tree, without symbolic links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        named.unwrap_or_else(|| self.root.join("target"))
    }

    /// A `cargo` command at the root, by the same cargo that runs this xtask.
    ///
    /// It does not hear of which package runs it: `ring` is built anew whenever
    /// that changes, and with it most of what we depend on.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.program(cargo.as_ref());
        for (name, _) in std::env::vars_os() {
            if is_about_the_package(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        if self.lints {
            command.envs(LINTER);
        }
        command
    }

    /// A `git` command at the root.
    pub(crate) fn git(&self) -> Command {
        self.program(Path::new("git"))
    }

    /// Another program at the root. No chore asks questions, so no program it
    /// calls has a standard input.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }
}

/// Whether `cargo run` set this variable for the package it runs.
fn is_about_the_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}
