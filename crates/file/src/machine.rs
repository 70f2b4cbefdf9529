//! Where this process runs, for records that other processes read.

use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// What does not change while the process lives.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Stands for this run of the machine; zero where that is not told.
    pub(crate) boot: u64,
    /// The name space in which process ids count here; zero where there are none.
    pub(crate) process_space: u64,
    pub(crate) host: String,
}

pub(crate) fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| Machine {
        boot: boot(),
        process_space: process_space(),
        host: text("/proc/sys/kernel/hostname").unwrap_or_default(),
    })
}

fn boot() -> u64 {
    let Some(id) = text("/proc/sys/kernel/random/boot_id") else {
        return 0;
    };
    // Every process must come to the same number, whatever it was compiled by.
    let digest = Sha256::digest(id.as_bytes());
    let number = digest
        .iter()
        .take(8)
        .fold(0, |n, byte| n << 8 | u64::from(*byte));
    number.max(1)
}

#[cfg(unix)]
fn process_space() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |space| space.ino())
}

#[cfg(not(unix))]
fn process_space() -> u64 {
    0
}

fn text(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}
