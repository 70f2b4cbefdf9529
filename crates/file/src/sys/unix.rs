//! Unix: files are opened relative to a directory that stays open, and never through a link.

use super::{Access, Facts, Identity, Missing};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::Path,
    time::{Duration, SystemTime},
};

/// Whether files are removed at all.
pub(crate) const REMOVES: bool = true;

// The fields of `stat` have other types on other systems.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
impl From<Stat> for Facts {
    fn from(stat: Stat) -> Self {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let since = Duration::new(stat.st_mtime.max(0) as u64, stat.st_mtime_nsec as u32);
        Self {
            identity: Identity {
                device: stat.st_dev as u64,
                inode: stat.st_ino as u64,
            },
            regular: kind == FileType::RegularFile,
            links: stat.st_nlink as u64,
            owner: stat.st_uid,
            mode: u32::from(stat.st_mode) & 0o7777,
            modified: SystemTime::UNIX_EPOCH + since,
        }
    }
}

/// Reading a record changes nothing. Without this the time of the last access would be written
/// with each grant, for each grant makes the record newer than that. Only for one's own files
/// (`O_NOATIME` in `open(2)`).
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNREAD: OFlags = OFlags::NOATIME;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const UNREAD: OFlags = OFlags::empty();

/// A directory that stays the same one, whatever becomes of its path.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Facts)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        let facts = rustix::fs::fstat(&directory)?.into();
        Ok((Self(directory), facts))
    }

    /// Opens a file of this directory. Never waits (a FIFO would make it), never follows a link.
    pub(crate) fn open_file(
        &self,
        name: &str,
        access: Access,
        missing: Missing,
        shared: bool,
    ) -> io::Result<(File, Facts)> {
        let mut flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags |= match access {
            Access::Write => OFlags::RDWR,
            Access::Read => OFlags::RDONLY,
        };
        if !shared {
            flags |= UNREAD;
        }
        // What is there is opened without `CREATE`: in a directory with the sticky bit that would
        // be refused if it belongs to another user (`protected_regular` in proc_sys_fs(5)).
        let file = loop {
            match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
                Err(Errno::INTR) => {}
                // Somebody else's file: whoever asked will see that.
                Err(Errno::PERM) if flags.intersects(UNREAD) => flags.remove(UNREAD),
                Err(Errno::NOENT) if missing == Missing::Make => {
                    match self.make_file(name, flags, shared) {
                        Err(Errno::INTR | Errno::EXIST) => {}
                        made => break made?,
                    }
                }
                opened => break opened?,
            }
        };
        let facts = rustix::fs::fstat(&file)?.into();
        Ok((File::from(file), facts))
    }

    fn make_file(&self, name: &str, flags: OFlags, shared: bool) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CREATE | OFlags::EXCL;
        if !shared {
            let mode = Mode::RUSR | Mode::WUSR;
            return rustix::fs::openat(&self.0, name, flags, mode);
        }
        // The umask mostly takes away what the group needs, and the group may be quick. So the file
        // gets its name when it has its rights.
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP;
        let unnamed = format!(".new-{:016x}", rand::random::<u64>());
        let file = rustix::fs::openat(&self.0, &unnamed, flags, mode)?;
        let named = rustix::fs::fchmod(&file, mode).and_then(|()| self.rename(&unnamed, name));
        if named.is_err() {
            rustix::fs::unlinkat(&self.0, &unnamed, AtFlags::empty())?;
        }
        named.map(|()| file)
    }

    /// Gives the file `from` the name `to`, unless another has it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        let unless_there = rustix::fs::RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(&self.0, from, &self.0, to, unless_there)
    }

    /// The same in two steps, which somebody may look between: the file has two names then.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?;
        rustix::fs::unlinkat(&self.0, from, AtFlags::empty())
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// The kind of file system it is on, as a number; `None` where that is not told.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn file_system(&self) -> Option<u64> {
        // As 32 bits: the type is signed on some machines, and the numbers are not.
        let kind = rustix::fs::fstatfs(&self.0).ok()?.f_type;
        Some(u64::from(kind as u32))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn file_system(&self) -> Option<u64> {
        None
    }
}

/// Which file `path` leads to, if any. A link is not followed.
pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    Ok(facts_at(path)?.map(|facts| facts.identity))
}

pub(crate) fn facts_at(path: &Path) -> io::Result<Option<Facts>> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(Some(stat.into())),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes a directory for this user alone.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mkdir(path, Mode::RWXU)?)
}

/// Whom this process acts for.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Sees that the names in `directory` are on the disk.
pub(crate) fn sync_directory(directory: &Directory) -> io::Result<()> {
    Ok(rustix::fs::fsync(directory.0.as_fd())?)
}

/// Reads what there is at `at`, as far as it goes.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}
