//! A command for `lockwork exec` that notices when it is not alone: `witness DIR`.
//!
//! All of its processes hold one lock of the operating system's own on `DIR/alive`, which ends when
//! the last of them is dead. Whoever finds it taken was let in beside them, and says so in
//! `DIR/overlaps`. Then it tells `DIR/begun`, and is a pipeline that SIGTERM does not impress.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

const PIPELINE: &str = "trap '' TERM; sleep 300 | sleep 300 | sleep 300";

fn main() {
    let dir = std::env::args_os().nth(1).expect("usage: witness DIR");
    let dir = PathBuf::from(dir);
    let alive = open(&dir, "alive");
    if alive.try_lock().is_err() {
        note(&dir, "overlaps");
    }
    // Standard error is what all of a pipeline share.
    let mut command = Command::new("sh");
    command.args(["-c", PIPELINE]).stderr(alive);
    note(&dir, "begun");
    let error = command.exec();
    panic!("no shell: {error}");
}

fn note(dir: &Path, file: &str) {
    let line = format!("{}\n", std::process::id());
    let written = open(dir, file).write_all(line.as_bytes());
    written.expect("the directory can be written to");
}

fn open(dir: &Path, file: &str) -> File {
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .open(dir.join(file));
    opened.expect("the directory can be written to")
}
