//! Where one server lives: its directory, its port, and the account it runs as.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::home;
use crate::problem::{Outcome, Problem, unusable};

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

/// Where a server may live that is usually in `usual`, the best place first: in
/// memory where there is plenty of it, in `usual` itself, or under the system's
/// directory for temporary files when the account does not reach that, as when
/// the checkout is in the home of root. They are the same each time, so that
/// whoever comes later finds what was left there.
pub fn places(usual: &Path) -> Vec<PathBuf> {
    let in_memory = home::in_memory().map(|memory| memory.join(named(usual)));
    let temporary = std::env::temp_dir().join(named(usual));
    let places = in_memory.into_iter().chain([usual.to_owned(), temporary]);
    places.collect()
}

/// A new directory for a server, in one of its [`places`].
pub fn new_directory(usual: &Path, account: &Account) -> Outcome<PathBuf> {
    let places = places(usual);
    for directory in &places {
        make(directory, account)?;
        if account.reaches(directory)? {
            return Ok(directory.clone());
        }
        fs::remove_dir(directory).map_err(|error| unusable(directory, &error))?;
    }
    let places: Vec<_> = places.iter().map(|place| place.display()).collect();
    Err(Problem::new(format!(
        "The servers reach none of {places:?}; set TMPDIR to a directory that everybody may write in."
    )))
}

/// What it is called where those of other checkouts are as well.
fn named(usual: &Path) -> String {
    let name = usual.file_name().unwrap_or_default().to_string_lossy();
    let mut hasher = DefaultHasher::new();
    usual.hash(&mut hasher);
    format!("lockwork-{name}-{:x}", hasher.finish())
}

/// The directory must be new: where everybody may write, one that is there
/// already may be somebody else's.
fn make(directory: &Path, account: &Account) -> Outcome {
    fs::create_dir(directory).map_err(|error| unusable(directory, &error))?;
    account.own(directory, 0o700)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_has_the_same_places_each_time_and_another_one_has_others() {
        let one = places(Path::new("/one/target/services/redis"));
        let other = places(Path::new("/other/target/services/redis"));
        assert_eq!(one, places(Path::new("/one/target/services/redis")));
        assert!(one.iter().all(|place| !other.contains(place)), "{one:?}");
    }
}
