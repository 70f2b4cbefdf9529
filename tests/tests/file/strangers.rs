//! Processes of other users, for whom rights count: the tests' own may be root's.

use crate::{
    contender::{Contender, GROUP},
    directory::Directory,
};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
};

/// Two users who are nobody in particular.
const ONE: u32 = 65_533;
const OTHER: u32 = 65_534;

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A directory in which `ONE` can reach `locks`; `None`, and why, if we cannot act for others.
fn reachable() -> Option<Directory> {
    let why = if !rustix::process::geteuid().is_root() {
        Some("only root can start processes of other users")
    } else if !every_parent_is_open(Path::new(Contender::program())) {
        Some("other users cannot reach the test's program")
    } else {
        None
    };
    if let Some(why) = why {
        println!("skipped: {why}");
        return None;
    }
    let directory = Directory::new();
    allow(directory.parent(), 0o755);
    allow(&directory.path(), 0o700);
    chown(directory.path(), Some(ONE), Some(ONE)).unwrap();
    Some(directory)
}

fn every_parent_is_open(program: &Path) -> bool {
    let open =
        |path: &Path| fs::metadata(path).is_ok_and(|there| there.permissions().mode() & 1 == 1);
    program
        .ancestors()
        .filter(|path| path.is_absolute())
        .all(open)
}

/// What a user who takes a mutex once says in the end.
fn last_word(user: u32, url: &str, name: &str) -> String {
    let mut contender = Contender::start(Some(user), url, "mutex", name, 1);
    contender.go();
    contender.rest().pop().unwrap()
}

fn is_refused(said: &str, kind: &str, advice: &str) {
    assert!(said.starts_with(&format!("error {kind} ")), "{said}");
    assert!(said.contains(advice), "{said}");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_denied() {
    let Some(directory) = reachable() else { return };
    assert!(last_word(ONE, &directory.url(), "x").starts_with("exclusive"));
    allow(&directory.path(), 0o500);
    let said = last_word(ONE, &directory.url(), "new");
    is_refused(&said, "Denied", "give this user the right");
    // What is there can be locked still.
    assert!(last_word(ONE, &directory.url(), "x").starts_with("exclusive"));
    allow(&directory.path(), 0);
    let said = last_word(ONE, &directory.url(), "x");
    is_refused(&said, "Denied", "give this user the right");
}

#[test]
fn a_parent_that_cannot_be_written_to_is_denied() {
    let Some(directory) = reachable() else { return };
    let url = format!("file://{}/new", directory.parent().display());
    is_refused(
        &last_word(ONE, &url, "x"),
        "Denied",
        "give this user the right",
    );
    assert!(!directory.parent().join("new").exists());
}

#[test]
fn a_directory_that_becomes_read_only_frees_what_is_held_in_it() {
    let Some(directory) = reachable() else { return };
    let mut holder = Contender::start(Some(ONE), &directory.url(), "take", "x", 1);
    holder.go();
    assert_eq!(holder.line().as_deref(), Some("ready"));
    assert!(holder.line().unwrap().starts_with("held"));
    allow(&directory.path(), 0o500);
    holder.kill_only();
    assert!(last_word(ONE, &directory.url(), "x").starts_with("exclusive"));
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let Some(directory) = reachable() else { return };
    allow(&directory.path(), 0o755);
    let said = last_word(OTHER, &directory.url(), "x");
    is_refused(&said, "Invalid", "use one of your own");
}

#[test]
fn a_file_of_another_user_is_refused() {
    let Some(directory) = reachable() else { return };
    assert!(last_word(ONE, &directory.url(), "x").starts_with("exclusive"));
    chown(directory.file(), Some(OTHER), None).unwrap();
    allow(&directory.file(), 0o666);
    let said = last_word(ONE, &directory.url(), "x");
    is_refused(&said, "Invalid", "say shared=true");
}

#[test]
fn a_file_whose_rights_were_taken_is_denied() {
    let Some(directory) = reachable() else { return };
    assert!(last_word(ONE, &directory.url(), "x").starts_with("exclusive"));
    allow(&directory.file(), 0);
    is_refused(
        &last_word(ONE, &directory.url(), "x"),
        "Denied",
        "give this user the right",
    );
}

/// Two users of one group, with the usual umask.
#[test]
fn a_shared_directory_serves_the_users_of_a_group() {
    let Some(directory) = reachable() else { return };
    chown(directory.path(), Some(ONE), Some(GROUP)).unwrap();
    for mode in [0o2770, 0o3770] {
        allow(&directory.path(), mode);
        let url = format!("{}?shared=true", directory.url());
        let name = format!("{mode:o}");
        for user in [ONE, OTHER, ONE] {
            let said = last_word(user, &url, &name);
            assert!(said.starts_with("exclusive"), "{user}: {said}");
        }
    }
}
