//! Looking at the file, its directory and its disk, without changing them.

use super::{Options, open, schema};
use crate::doctor::{form, refused};
use lockwork_core::{
    lock::{Finding, Report, Severity},
    workflow::{Error, ErrorKind, Result},
};
use sqlx::SqliteConnection;
use std::path::Path;

/// With less than this, a node that has much to do may come to its end.
const ROOM: u64 = 256 << 20;

/// File systems of other machines: `linux/magic.h` and the file systems' own sources.
#[cfg(target_os = "linux")]
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

pub(crate) async fn look(options: &Options) -> Result<Report> {
    let directory = options.directory();
    if !directory.is_dir() {
        let what = format!("the directory {} does not exist", directory.display());
        let remedy = "create it, or name another one";
        return Ok(Report::new(vec![Finding::new(
            Severity::Unsafe,
            what,
            remedy,
        )]));
    }
    let mut findings = disk(directory);
    match options.file.try_exists() {
        Ok(false) => {
            findings.extend(form(None, schema::KNOWN));
            findings.extend(may_create(directory));
        }
        // What keeps us from looking keeps us from opening it too.
        _ => findings.extend(file(options).await?),
    }
    Ok(Report::new(findings))
}

async fn file(options: &Options) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut connection = match open::as_it_is(options).await {
        Ok(connection) => connection,
        Err(error) => return told(error, findings),
    };
    let examined = examine(&mut connection, &mut findings).await;
    open::close(connection).await;
    match examined {
        Ok(()) => Ok(findings),
        Err(error) => told(error, findings),
    }
}

/// What cannot be reached is no finding: it may be there in a moment.
fn told(error: Error, mut findings: Vec<Finding>) -> Result<Vec<Finding>> {
    if error.kind() == ErrorKind::Unavailable {
        return Err(error);
    }
    findings.push(refused(&error));
    Ok(findings)
}

async fn examine(connection: &mut SqliteConnection, findings: &mut Vec<Finding>) -> Result<()> {
    let found = schema::found(connection).await?;
    findings.extend(form(found, schema::KNOWN));
    // `synchronous` belongs to a connection, and each of a store has FULL; the log belongs to the file.
    let mode = open::log_mode(connection).await?;
    if found.is_some() && mode != "wal" {
        let what = format!("the file has no log beside it: journal_mode is {mode}");
        let remedy = "a node turns it on when it starts; if it is off again, find out which program does that";
        findings.push(Finding::new(Severity::Warning, what, remedy));
    }
    // Of a file that cannot be written SQLite begins a transaction all the same: only what writes is refused.
    schema::execute(connection, "BEGIN IMMEDIATE").await?;
    schema::execute(connection, "CREATE TABLE lockwork_doctor (number INTEGER)").await?;
    schema::execute(connection, "ROLLBACK").await
}

/// Whether a file can be made there: a store has others beside its own.
fn may_create(directory: &Path) -> Option<Finding> {
    #[cfg(unix)]
    if let Err(failed) = rustix::fs::access(directory, rustix::fs::Access::WRITE_OK) {
        let what = format!(
            "nothing can be written into {}: {failed}",
            directory.display()
        );
        let remedy = "allow this process to write there, or name another directory";
        return Some(Finding::new(Severity::Unsafe, what, remedy));
    }
    let _ = directory;
    None
}

#[cfg(unix)]
fn disk(directory: &Path) -> Vec<Finding> {
    let mut findings: Vec<_> = remote(directory).into_iter().collect();
    if let Ok(disk) = rustix::fs::statvfs(directory) {
        let left = disk.f_bavail.saturating_mul(disk.f_frsize);
        findings.extend((left < ROOM).then(|| {
            let what = format!("{} MiB are left on the disk", left >> 20);
            let remedy =
                "free some: without room nothing is written, and nodes wait until there is";
            Finding::new(Severity::Warning, what, remedy)
        }));
    }
    findings
}

#[cfg(not(unix))]
fn disk(_: &Path) -> Vec<Finding> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn remote(directory: &Path) -> Option<Finding> {
    let number = rustix::fs::statfs(directory).ok()?.f_type;
    // Numbers of 32 bits, which some systems have as signed ones.
    let number = u64::try_from(number).ok()? & 0xffff_ffff;
    let (_, name) = REMOTE.iter().find(|(known, _)| *known == number)?;
    Some(Finding::new(
        Severity::Unsafe,
        format!(
            "the file system is {name}, which may be another machine's: it has neither the locks nor the memory that SQLite needs"
        ),
        "use a local disk, or PostgreSQL for several machines",
    ))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn remote(_: &Path) -> Option<Finding> {
    None
}
