//! Where one server lives: its directory, its port, and the account it runs as.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::{Outcome, Problem, unusable};

use crate::account::Account;

/// What a server has to be told when it is set up and started.
#[derive(Clone, Debug)]
pub struct Site {
    /// As whom it runs.
    pub account: Account,
    /// What it writes is in here.
    pub directory: PathBuf,
    /// Where it listens.
    pub port: u16,
}

impl Site {
    /// Where the server, and what sets it up, write what they have to say.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Writes a file that only the server reads.
    pub fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|error| unusable(&path, &error))?;
        self.account.own(&path, 0o600)?;
        Ok(path)
    }
}

/// A new directory for a server: the usual one, or one under the system's
/// directory for temporary files when the account does not reach the usual
/// one, as when the checkout is in the home of root.
pub fn new_directory(usual: &Path, account: &Account) -> Outcome<PathBuf> {
    make(usual, account)?;
    if account.reaches(usual)? {
        return Ok(usual.to_owned());
    }
    fs::remove_dir(usual).map_err(|error| unusable(usual, &error))?;
    let directory = temporary(usual);
    make(&directory, account)?;
    if account.reaches(&directory)? {
        return Ok(directory);
    }
    Err(Problem::new(format!(
        "The servers reach neither {} nor {}; set TMPDIR to a directory that everybody may write in.",
        usual.display(),
        directory.display()
    )))
}

fn temporary(usual: &Path) -> PathBuf {
    let name = usual.file_name().unwrap_or_default().to_string_lossy();
    std::env::temp_dir().join(format!("lockwork-{name}-{}", std::process::id()))
}

/// The directory must be new: where everybody may write, one that is there
/// already may be somebody else's.
fn make(directory: &Path, account: &Account) -> Outcome {
    fs::create_dir(directory).map_err(|error| unusable(directory, &error))?;
    account.own(directory, 0o700)
}
