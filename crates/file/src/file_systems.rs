//! Which file systems keep locks that can be trusted.

use crate::{errors::strange, sys::Directory};
use lockwork_core::lock::{Error, ErrorKind, Result};
use std::path::Path;

/// Numbers from `linux/magic.h` and the file systems' own sources.
const LOCAL: [(u64, &str); 15] = [
    (0xef53, "ext2, ext3 or ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x794c_7630, "overlayfs"),
    (0xca45_1a4e, "bcachefs"),
    (0x5265_4973, "reiserfs"),
    (0x3153_464a, "jfs"),
    (0x3434, "nilfs"),
    (0x4d44, "fat"),
    (0x2011_bab0, "exfat"),
    (0x5346_544e, "ntfs"),
];

const REMOTE: [(u64, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x6573_5546, "FUSE"),
    (0x00c3_6400, "Ceph"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
];

/// What the file system of `directory` is called, where that is known.
pub(crate) fn called(directory: &Directory) -> Option<&'static str> {
    let number = directory.file_system()?;
    let known = LOCAL.iter().chain(&REMOTE);
    Some(known.clone().find(|(known, _)| *known == number)?.1)
}

/// Refuses a file system that is not known to be local. Where the system does not tell, nothing is
/// refused.
pub(crate) fn local(directory: &Directory, path: &Path) -> Result<()> {
    let Some(number) = directory.file_system() else {
        return Ok(());
    };
    if LOCAL.iter().any(|(local, _)| *local == number) {
        return Ok(());
    }
    Err(unsafe_here(number, path))
}

fn unsafe_here(number: u64, path: &Path) -> Error {
    let message = "locks on this file system may exclude nobody: use a local directory, or a \
                   server for several machines, or say any_fs=true if you know better";
    let name = REMOTE.iter().find(|(remote, _)| *remote == number);
    let name = name.map_or_else(
        || format!("unknown ({number:#x})"),
        |(_, name)| (*name).into(),
    );
    let error = strange(message, path).with("file_system", name);
    Error::new(ErrorKind::Unsupported, error.to_string())
}
