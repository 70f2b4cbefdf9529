//! Systems that are no Unix: a file that is open cannot be removed, so it is always in place.
//!
//! Windows refuses to remove or rename what somebody has opened without sharing that, as is done
//! here. So there is no identity to compare, idle files stay, and no lock can be broken.

use super::{Access, Facts, Identity, Missing};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Whether files are removed at all.
pub(crate) const REMOVES: bool = false;

/// Which file it is: the one of its name, while anybody has it open.
const ITSELF: Identity = Identity {
    device: 0,
    inode: 0,
};

impl Facts {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            identity: ITSELF,
            regular: metadata.is_file(),
            links: 1,
            owner: user(),
            mode: 0,
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }
}

/// A directory, by its path.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Facts)> {
        let metadata = std::fs::symlink_metadata(path)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok((Self(path.to_owned()), Facts::of(&metadata)))
    }

    pub(crate) fn open_file(
        &self,
        name: &str,
        _: Access,
        missing: Missing,
        _: bool,
    ) -> io::Result<(File, Facts)> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(missing == Missing::Make)
            .truncate(false);
        unremovable(&mut options);
        let path = self.0.join(name);
        let file = options.open(&path)?;
        let metadata = std::fs::symlink_metadata(path)?;
        Ok((file, Facts::of(&metadata)))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    pub(crate) fn file_system(&self) -> Option<u64> {
        None
    }
}

/// Keeps others from removing what we have open: reading and writing is shared, removing is not.
#[cfg(windows)]
fn unremovable(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_SHARE_READ: u32 = 1;
    const FILE_SHARE_WRITE: u32 = 2;
    options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
}

#[cfg(not(windows))]
fn unremovable(_: &mut OpenOptions) {}

pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    Ok(facts_at(path)?.map(|facts| facts.identity))
}

pub(crate) fn facts_at(path: &Path) -> io::Result<Option<Facts>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(Facts::of(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Users are not told apart here.
pub(crate) const fn user() -> u32 {
    0
}

/// Names are on the disk when the system says so.
pub(crate) const fn sync_directory(_: &Directory) -> io::Result<()> {
    Ok(())
}

pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    file.read(bytes)
}

pub(crate) fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}
