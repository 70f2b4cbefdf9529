//! Where Azurite is: in a package for Node, which npm fetches once for a
//! checkout. The package and all it depends on are pinned by their hashes in
//! `servers/azurite`, wherever npm gets them from: `docs/decisions/0011-services.md`.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::problem::{Outcome, Problem, unusable};
use crate::programs;
use crate::run;

/// The files of `servers/azurite`. Three packages that Azurite depends on are
/// empty there: it needs them to report on its use, and to keep its data in a
/// database. They are five sixths of the whole, and half of the time to start.
const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("../../azurite/package.json")),
    ("package-lock.json", LOCK),
    (START, include_str!("../../azurite/start.js")),
    (
        "without/applicationinsights/package.json",
        include_str!("../../azurite/without/applicationinsights/package.json"),
    ),
    (
        "without/mysql2/package.json",
        include_str!("../../azurite/without/mysql2/package.json"),
    ),
    (
        "without/tedious/package.json",
        include_str!("../../azurite/without/tedious/package.json"),
    ),
];

const LOCK: &str = include_str!("../../azurite/package-lock.json");

/// The version in `package.json`.
pub const VERSION: &str = "3.37.0";

/// What Node is told to run.
const START: &str = "start.js";

/// How long fetching two hundred packages may take, and before that waiting
/// for somebody else who does.
const STEP: Duration = Duration::from_secs(300);

/// How long it may take at most to have the package.
pub const LIMIT: Duration = Duration::from_secs(2 * STEP.as_secs());

/// The script that starts Azurite, if it was fetched before.
pub fn find() -> Option<PathBuf> {
    // The copy in which `cargo xtask mutants` works is inside of the checkout,
    // which has it already.
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    let mut starts = trees.map(|tree| place_in(tree).join(START));
    starts.find(|start| start.is_file())
}

/// The script that starts Azurite, fetched if need be.
///
/// # Errors
/// If there is no npm, or it fails or takes too long; the text says so.
pub fn get() -> Outcome<PathBuf> {
    static GOT: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    GOT.get_or_init(find_or_fetch).clone()
}

fn find_or_fetch() -> Outcome<PathBuf> {
    if let Some(start) = find() {
        return Ok(start);
    }
    let place = place_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let fetched = programs::get_from("npm", "npm").and_then(|npm| fetch(&npm, &place));
    fetched.map_err(|why| cannot(&why))?;
    Ok(place.join(START))
}

/// The place has another name for other files, so that it is never of the past.
fn place_in(tree: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    FILES.hash(&mut hasher);
    let name = format!("azurite-{:016x}", hasher.finish());
    tree.join("target/programs").join(name)
}

/// Fetches the package beside its place and moves it there whole, one process
/// at a time.
fn fetch(npm: &Path, place: &Path) -> Outcome {
    let above = place.parent().unwrap_or(place);
    fs::create_dir_all(above).map_err(|error| unusable(above, &error))?;
    let held = hold(&place.with_extension("lock"))?;
    if place.exists() {
        return Ok(());
    }
    let half = place.with_extension("half");
    if half.exists() {
        fs::remove_dir_all(&half).map_err(|error| unusable(&half, &error))?;
    }
    install(npm, &half, held)?;
    fs::rename(&half, place).map_err(|error| unusable(place, &error))
}

fn hold(path: &Path) -> Outcome<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path).map_err(|error| unusable(path, &error))?;
    let deadline = Instant::now() + STEP;
    while file.try_lock().is_err() {
        if Instant::now() >= deadline {
            return Err(Problem::new(format!(
                "Another process has been fetching it for {} s; see what npm waits for, and end it.",
                STEP.as_secs()
            )));
        }
        sleep(Duration::from_millis(50));
    }
    Ok(file)
}

fn install(npm: &Path, half: &Path, held: File) -> Outcome {
    for (name, text) in FILES {
        let path = half.join(name);
        let no = |error| unusable(&path, &error);
        fs::create_dir_all(path.parent().unwrap_or(half)).map_err(no)?;
        fs::write(&path, text).map_err(no)?;
    }
    let mut npm = Command::new(npm);
    npm.current_dir(half)
        .args(["ci", "--omit=dev", "--no-fund", "--no-audit"])
        // Nobody else's program runs before a test wants it.
        .args(["--ignore-scripts", "--loglevel=error"])
        // An empty file, and a lock that is npm's as well: when this process is
        // killed, npm goes on, and nobody comes into its way.
        .stdin(held);
    run::answer(&mut npm, STEP).map(drop)
}

fn cannot(why: &Problem) -> Problem {
    Problem::new(format!(
        "Azurite cannot be had here; install Node 18 or later with npm, and let `npm ci` fetch packages. {why}"
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A new directory with a program in the place of npm.
    fn directory(test: &str, npm: &str) -> (PathBuf, PathBuf) {
        let name = format!("lockwork-package-{test}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let program = directory.join("npm");
        fs::write(&program, format!("#!/bin/sh\n{npm}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (directory, program)
    }

    #[test]
    fn every_package_is_pinned_by_its_hash_and_to_no_host() {
        let count = |word| LOCK.matches(word).count();
        assert!(LOCK.contains(&format!("\"azurite\": \"{VERSION}\"")));
        let (all, ours) = (count("\n    \"node_modules/"), count("\"link\": true"));
        assert_eq!(count("\"integrity\": \"sha512-"), all - ours);
        assert_eq!(count("\"resolved\": "), count("\"resolved\": \"without/"));
    }

    #[test]
    fn what_npm_did_not_finish_is_not_taken_for_the_package() {
        let (directory, npm) = directory("half", "mkdir node_modules; echo no >&2; exit 1");
        let place = directory.join("place");
        for _ in 0..2 {
            let problem = fetch(&npm, &place).unwrap_err().to_string();
            assert!(problem.ends_with(": no"), "{problem}");
            assert!(!place.exists());
        }
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn who_comes_second_waits_for_the_first_and_fetches_nothing() {
        let (directory, npm) = directory("twice", "echo >>../calls; sleep 0.3");
        let place = directory.join("place");
        std::thread::scope(|scope| {
            let fetches = [(); 2].map(|()| scope.spawn(|| fetch(&npm, &place)));
            for fetch in fetches {
                fetch.join().unwrap().unwrap();
            }
        });
        assert!(place.join(START).is_file());
        assert_eq!(fs::read_to_string(directory.join("calls")).unwrap(), "\n");
        fs::remove_dir_all(directory).unwrap();
    }
}
