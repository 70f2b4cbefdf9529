//! As whom the servers run: as ourselves, or as `nobody` when we are root,
//! because PostgreSQL and PgBouncer both refuse to run as root.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::problem::{Outcome, Problem, unusable};

/// The account of the servers.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// User and group; none when it is our own.
    other: Option<(u32, u32)>,
}

impl Account {
    /// Ours, or that of `nobody`.
    pub fn for_servers() -> Outcome<Self> {
        if !is_root() {
            return Ok(Self::ours());
        }
        let accounts = fs::read_to_string("/etc/passwd")
            .map_err(|error| unusable(Path::new("/etc/passwd"), &error))?;
        let nobody = find("nobody", &accounts).ok_or_else(|| {
            Problem::new(
                "Servers refuse to run as root, and there is no account `nobody`; run `cargo xtask up` as another user.",
            )
        })?;
        Ok(Self {
            other: Some(nobody),
        })
    }

    /// Our own, for servers that run as anybody.
    pub fn ours() -> Self {
        Self { other: None }
    }

    /// A program run by the account. It has no standard input.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        if let Some((user, group)) = self.other {
            // As root this drops the other groups as well.
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives a file or a directory to the account, and takes it from everybody else.
    pub fn own(&self, path: &Path, mode: u32) -> Outcome {
        let no = |error| unusable(path, &error);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(no)?;
        match self.other {
            Some((user, group)) => chown(path, Some(user), Some(group)).map_err(no),
            None => Ok(()),
        }
    }

    /// Whether the account gets to a directory and can write in it: one above
    /// may be closed to it.
    pub fn reaches(&self, directory: &Path) -> Outcome<bool> {
        let mut test = self.command("test");
        let status = test.arg("-w").arg(directory).status();
        let status = status.map_err(|error| unusable(directory, &error))?;
        Ok(status.success())
    }
}

/// Whether we may do everything.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}

/// User and group of an account, in the format of passwd(5).
fn find(name: &str, accounts: &str) -> Option<(u32, u32)> {
    let mut rows = accounts.lines().map(|line| line.split(':'));
    let mut fields = rows.find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
    let user = fields.nth(1)?.parse().ok()?;
    Some((user, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "root:x:0:0::/:/bin/sh\nnobody2:x:7:7::/:\nnobody:x:65534:65533:n:/:\n";
        assert_eq!(find("nobody", accounts), Some((65534, 65533)));
        assert_eq!(find("somebody", accounts), None);
    }
}
