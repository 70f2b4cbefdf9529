//! Where the servers of a test live, and what is left when it is killed:
//! nothing. All directories of one process are in one, and a shell watches the
//! process: when that ends, in whatever way, the shell ends its servers and
//! removes their directories.
//!
//! Why a shell, and not `PR_SET_PDEATHSIG`: that signal comes when the *thread*
//! ends that started the server (prctl(2)), and threads of tests come and go.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::SystemTime;

use crate::account::Account;
use crate::problem::{Outcome, Problem, unusable};

/// Ends and removes what a process left, once its standard input ends.
const GUARD: &str = include_str!("guard.sh");

/// Files in memory, on Linux.
const MEMORY: &str = "/dev/shm";

/// Room for twenty servers and what they write. A container has 64 MiB.
const PLENTY: u64 = 1 << 30;

/// The directory of this process and the shell that watches it.
struct Home {
    directory: PathBuf,
    /// Its standard input is open for as long as this process lives.
    _guard: Child,
}

/// A new directory, given to the account.
pub(crate) fn directory(name: &str, account: &Account) -> Outcome<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Relaxed);
    let directory = home()?.join(format!("{name}-{number}"));
    fs::create_dir(&directory).map_err(|error| unusable(&directory, &error))?;
    account.own(&directory, 0o700)?;
    match account.reaches(&directory)? {
        true => Ok(directory),
        false => Err(Problem::new(format!(
            "The servers do not reach {}; set TMPDIR to a directory that everybody may write in.",
            directory.display()
        ))),
    }
}

/// Leaves word of a network namespace, so that it is removed in the end.
pub(crate) fn note_namespace(name: &str) -> Outcome<PathBuf> {
    let note = home()?.join("namespaces").join(name);
    fs::write(&note, "").map_err(|error| unusable(&note, &error))?;
    Ok(note)
}

fn home() -> Outcome<&'static Path> {
    static HOME: OnceLock<Outcome<Home>> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        let name = format!("lockwork-servers-{}-{}", std::process::id(), now());
        let directory = place().join(name);
        make(&directory).map_err(|error| unusable(&directory, &error))
    });
    match home {
        Ok(home) => Ok(&home.directory),
        Err(problem) => Err(problem.clone()),
    }
}

fn place() -> PathBuf {
    in_memory().map_or_else(std::env::temp_dir, Path::to_owned)
}

/// In memory, where there is plenty of it and nobody has said where temporary
/// files belong: a data directory is a thousand small files, and some file
/// systems make them slowly. Nothing is lost by that when a server is killed,
/// only when the machine is.
pub(crate) fn in_memory() -> Option<&'static Path> {
    let free = rustix::fs::statvfs(MEMORY).map(|of| of.f_bavail.saturating_mul(of.f_frsize));
    let is_roomy = free.is_ok_and(|free| free >= PLENTY);
    (is_roomy && std::env::var_os("TMPDIR").is_none()).then_some(Path::new(MEMORY))
}

/// A number may be given to a second process, but not at the same moment.
fn now() -> u128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_micros()
}

fn make(directory: &Path) -> io::Result<Home> {
    fs::create_dir(directory)?;
    // The servers' account goes through it to what is its own.
    fs::set_permissions(directory, fs::Permissions::from_mode(0o711))?;
    fs::create_dir(directory.join("namespaces"))?;
    let guard = Command::new("sh")
        .args(["-c", GUARD, "guard.sh"])
        .arg(directory)
        .current_dir("/")
        .stdin(Stdio::piped())
        // Whoever reads what the tests print must not wait for the guard.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C ends the tests, and the guard only after them.
        .process_group(0)
        .spawn()?;
    Ok(Home {
        directory: directory.to_owned(),
        _guard: guard,
    })
}
