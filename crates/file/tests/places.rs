//! Directories that locks can live in, and those that they must not.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::{Error, ErrorKind, Locks, Registry};
use lockwork_file::{DRIVER, Files};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// What is wrong with `path`, found soon.
fn refusal(path: impl AsRef<Path>) -> Error {
    let start = Instant::now();
    let error = Files::open(path).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(2), "too late");
    error
}

fn is_invalid(error: &Error, advice: &str) {
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains(advice), "{error}");
}

async fn works(path: impl AsRef<Path>) {
    let locks = Locks::new(Files::open(path).unwrap());
    drop(locks.mutex("x").lock().await.unwrap());
}

#[tokio::test]
async fn a_missing_directory_is_made_for_this_user_alone() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("locks");
    works(&path).await;
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[tokio::test]
async fn a_missing_parent_is_not_made() {
    let parent = tempfile::tempdir().unwrap();
    is_invalid(&refusal(parent.path().join("a/b")), "mkdir -p");
    assert!(!parent.path().join("a").exists());
}

#[tokio::test]
async fn a_file_is_no_directory_and_stays_as_it_is() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "content").unwrap();
    is_invalid(&refusal(file.path()), "not a directory");
    let below = refusal(file.path().join("locks"));
    assert!(
        matches!(below.kind(), ErrorKind::Invalid | ErrorKind::Unavailable),
        "{below}"
    );
    assert_eq!(fs::read(file.path()).unwrap(), b"content");
}

#[tokio::test]
async fn a_directory_others_may_write_to_is_refused_unless_shared() {
    let directory = tempfile::tempdir().unwrap();
    for mode in [0o777, 0o1777, 0o770] {
        fs::set_permissions(directory.path(), Permissions::from_mode(mode)).unwrap();
        is_invalid(&refusal(directory.path()), "chmod go-w");
    }
    let shared = Files::options().shared(true).open(directory.path());
    drop(Locks::new(shared.unwrap()).mutex("x").lock().await.unwrap());
}

#[tokio::test]
async fn a_link_to_a_directory_leads_there_for_good() {
    let parent = tempfile::tempdir().unwrap();
    let [one, other, link] = ["one", "other", "link"].map(|name| parent.path().join(name));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    symlink(&one, &link).unwrap();
    let locks = Locks::new(Files::open(&link).unwrap());
    fs::remove_file(&link).unwrap();
    symlink(&other, &link).unwrap();
    let guard = locks.mutex("x").lock().await.unwrap();
    assert!(guard.is_valid());
    assert_eq!(
        (
            fs::read_dir(&one).unwrap().count(),
            fs::read_dir(&other).unwrap().count()
        ),
        (1, 0)
    );
}

#[tokio::test]
async fn a_link_to_nowhere_is_no_directory() {
    let parent = tempfile::tempdir().unwrap();
    let (link, nowhere) = (parent.path().join("link"), parent.path().join("nowhere"));
    symlink(&nowhere, &link).unwrap();
    assert_eq!(refusal(&link).kind(), ErrorKind::Unavailable);
    assert!(!nowhere.exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_system_that_is_not_known_is_refused() {
    for path in ["/proc", "/sys", "/sys/kernel/debug"] {
        if !Path::new(path).is_dir() {
            println!("skipped {path}: it is not there");
            continue;
        }
        let error = refusal(path);
        let safe = fs::metadata(path).unwrap().permissions().mode() & 0o022 == 0;
        // Another user's, or one others may write to, is refused for that.
        if safe && rustix::process::geteuid().is_root() {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(
                error.to_string().contains("use a local directory"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_name_cannot_lead_out_of_the_directory() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a/b/locks");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let locks = Locks::new(Files::open(&path).unwrap());
    for name in [
        "../../etc/passwd",
        "..",
        "/etc/passwd",
        "a\\b",
        "CON",
        ".lockwork",
    ] {
        drop(locks.mutex(name).lock().await.unwrap());
        drop(locks.semaphore(name, 2).acquire().await.unwrap());
    }
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(parent.path().join("a/b")).unwrap().count(), 1);
    let within = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_type().unwrap());
    assert!(within.into_iter().all(|kind| kind.is_file()));
}

#[tokio::test]
async fn a_name_of_ten_megabytes_is_refused_and_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let locks = Locks::new(Files::open(directory.path()).unwrap());
    let long = "x".repeat(10 << 20);
    let error = locks.mutex(long.as_str()).lock().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().len() < 500);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A small file system in memory; `None`, and why, if we may not mount one.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k,mode=700", "none"]);
        let mounted = mount.arg(directory.path()).output();
        if !mounted.is_ok_and(|mounted| mounted.status.success()) {
            println!("skipped: this user may not mount");
            return None;
        }
        Some(Self(directory))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error_until_there_is_room() {
    let Some(small) = Small::mount() else { return };
    let locks = Locks::new(Files::open(small.0.path()).unwrap());
    let held = locks.mutex("held").lock().await.unwrap();
    let filler = small.0.path().join("filler");
    fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
    for name in ["one", "other"] {
        let asked = locks.mutex(name);
        let asked = tokio::time::timeout(Duration::from_secs(2), asked.lock());
        let error = asked.await.expect("not within 2 s").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("free space"), "{error}");
    }
    assert!(held.is_valid());
    held.release().await.unwrap();
    drop(locks.mutex("held").lock().await.unwrap());
    fs::remove_file(filler).unwrap();
    drop(locks.mutex("one").lock().await.unwrap());
}

#[tokio::test]
async fn a_wrong_url_says_how_to_write_it() {
    let registry = Registry::new().with(DRIVER);
    let directory = tempfile::tempdir().unwrap();
    let good = format!("file://{}", directory.path().display());
    for (url, advice) in [
        ("file://locks".to_owned(), "three slashes"),
        ("file:".to_owned(), "names a directory"),
        ("file:?poll=true".to_owned(), "names a directory"),
        ("file://".to_owned(), "names a directory"),
        (format!("{good}?shard=3"), "shard"),
        (format!("{good}?shared=maybe"), "shared"),
        (format!("{good}?idle=soon"), "idle"),
        (format!("{good}?poll=1&poll=0"), "poll"),
    ] {
        match registry.connect(&url).await {
            Ok(_) => panic!("{url} was accepted"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{url}: {error}");
                assert!(error.to_string().contains(advice), "{url}: {error}");
            }
        }
    }
    registry.connect(&good).await.unwrap();
}
