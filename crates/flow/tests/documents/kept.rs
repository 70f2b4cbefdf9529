//! Files of the repository that are written by tests.

use std::{env, fs, path::PathBuf};

/// What cargo leaves beside the manifest when it makes a package, in which nothing from above is.
const PACKAGED: &str = "Cargo.toml.orig";

/// The crate, from which the repository is two steps up.
const HOME: &str = env!("CARGO_MANIFEST_DIR");

/// Writes `text` to the file at `path` if somebody asks for that, and otherwise expects it there.
pub(crate) fn check(path: &str, text: &str) {
    let Some(file) = find(path) else { return };
    if env::var_os("LOCKWORK_RENEW").is_some() {
        fs::write(file, text).expect(path);
        return;
    }
    let there = fs::read_to_string(file).expect(path);
    assert!(
        there == text,
        "{path} is not what the program says, from line {} on. Write it anew: LOCKWORK_RENEW=1 cargo test \
         -p lockwork-flow --test documents",
        same_lines(&there, text) + 1
    );
}

fn same_lines(a: &str, b: &str) -> usize {
    let lines = a.lines().zip(b.lines());
    lines.take_while(|(a, b)| a == b).count()
}

/// Where the file is, unless this is a package without a repository around it.
fn find(path: &str) -> Option<PathBuf> {
    let home = PathBuf::from(HOME);
    match home.join(PACKAGED).exists() {
        true => None,
        false => Some(home.join("../..").join(path)),
    }
}
