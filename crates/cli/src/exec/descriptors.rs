//! The descriptors a file lock rests on, on their way into the guardian and the command.
//!
//! While any process has one of them open the lock stays taken. So even if `exec` and the guardian
//! are killed at once, nobody else gets the lock as long as the command lives.

use super::pipe;
use lockwork::Guard;
use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
};

/// Duplicates that the processes started next inherit. Dropping them closes ours.
#[derive(Debug)]
pub(super) struct Inherited(Vec<OwnedFd>);

impl Inherited {
    /// Those of `guard`; none unless it is a file lock's.
    pub(super) fn of(guard: &Guard) -> io::Result<Self> {
        Self::new(guard.descriptors().map_err(io::Error::other)?)
    }

    fn new(descriptors: Vec<OwnedFd>) -> io::Result<Self> {
        descriptors.iter().try_for_each(pipe::share)?;
        Ok(Self(descriptors))
    }

    /// What they are called in those processes.
    pub(super) fn numbers(&self) -> Vec<RawFd> {
        self.0.iter().map(AsRawFd::as_raw_fd).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, process::Command};

    /// Whether a child has `number` open.
    fn reaches_a_child(number: RawFd) -> bool {
        let look = format!("[ -e /dev/fd/{number} ]");
        let looked = Command::new("sh").args(["-c", &look]).status();
        looked.expect("a shell").success()
    }

    #[test]
    fn a_descriptor_reaches_a_child_only_after_it_was_shared() {
        let file: OwnedFd = File::open("/dev/null").unwrap().into();
        let number = file.as_raw_fd();
        assert!(!reaches_a_child(number));
        let inherited = Inherited::new(vec![file]).unwrap();
        assert_eq!(inherited.numbers(), [number]);
        assert!(reaches_a_child(number));
    }
}
