//! Where the programs of the servers are. Debian keeps each major version of
//! PostgreSQL in a directory that is not on the PATH, and PgBouncer in one that
//! is on the PATH of root only.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::{Outcome, Problem};

/// The program, from the newest PostgreSQL that has it, or from the PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian_directories(Path::new("/usr/lib/postgresql"))
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain([PathBuf::from("/usr/sbin")])
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
}

/// The same, for a program that was found before.
pub fn get(name: &str) -> Outcome<PathBuf> {
    find(name).ok_or_else(|| {
        Problem::new(format!(
            "The program `{name}` is not installed; `cargo xtask up` installs it or says how."
        ))
    })
}

/// The same, for whoever may have to install it by hand.
pub(crate) fn get_from(name: &str, package: &str) -> Outcome<PathBuf> {
    find(name).ok_or_else(|| {
        Problem::new(format!(
            "The program `{name}` is not installed; `cargo xtask up` installs it or says how. In Debian it is in the package `{package}`."
        ))
    })
}

fn debian_directories(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let versions = newest_first(names.collect());
    let bin = |version| home.join(version).join("bin");
    versions.into_iter().map(bin).collect()
}

/// By number: 9.6 comes before 15, which comes before 17. What is no number is
/// left out.
fn newest_first(names: Vec<String>) -> Vec<String> {
    let number = |name: &str| -> Option<Vec<u32>> {
        name.split('.').map(|part| part.parse().ok()).collect()
    };
    let numbered = names.into_iter();
    let mut versions: Vec<(Vec<u32>, String)> = numbered
        .filter_map(|name| Some((number(&name)?, name)))
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let names = ["9.6", "15", "common", "17", "9.10"].map(str::to_owned);
        assert_eq!(newest_first(names.to_vec()), ["17", "15", "9.10", "9.6"]);
    }

    #[test]
    fn a_program_of_every_system_is_found_on_the_path() {
        assert!(find("sh").is_some());
        assert!(find("no-such-program-anywhere").is_none());
    }
}
