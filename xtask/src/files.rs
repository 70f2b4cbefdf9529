//! Walking and reading files, for the chores that look at the tree itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::{Failure, Outcome};

/// Every file under a directory, sorted; none when there is no such directory.
pub(crate) fn under(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    if directory.is_dir() {
        collect(directory, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) -> Outcome {
    for entry in fs::read_dir(directory).map_err(|error| unusable(directory, &error))? {
        let path = entry.map_err(|error| unusable(directory, &error))?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| unusable(path, &error))
}

/// The failure for a path that could not be read or written.
pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "{} cannot be used ({error}); check that it is there and that you may read and write it.",
        path.display()
    ))
}
