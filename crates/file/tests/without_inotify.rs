//! The system gives no inotify instance: everything works, by looking.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::Locks;
use lockwork_file::Files;
use std::{process::Command, time::Duration};

const INSIDE: &str = "LOCKWORK_TEST_WITHOUT_INOTIFY";
const SOON: Duration = Duration::from_millis(500);

/// Runs this test again where the limit is zero: in a name space of users, which has its own.
fn run_inside() {
    let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    let this = std::env::current_exe().unwrap();
    let name = "file_locks_work_without_inotify";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", script]);
    command.arg(this).args(["--exact", name, "--nocapture"]);
    let Ok(output) = command.env(INSIDE, "yes").output() else {
        println!("skipped: there is no unshare");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.contains("running 1 test") {
        let why = String::from_utf8_lossy(&output.stderr);
        println!("skipped: no name space of users with a limit of its own: {why}");
        return;
    }
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    println!("{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_locks_work_without_inotify() {
    if std::env::var_os(INSIDE).is_none() {
        return run_inside();
    }
    let directory = tempfile::tempdir().unwrap();
    let open = || Locks::with_tenure(Files::open(directory.path()).unwrap(), Duration::ZERO);
    let (locks, other) = (open(), open());
    let report = format!("{:?}", locks.doctor().await.unwrap());
    assert!(report.contains("max_user_instances"), "{report}");
    for _ in 0..5 {
        let guard = locks.rw_lock("x").write().await.unwrap();
        let next = other.rw_lock("x");
        let waiting = tokio::spawn(async move { next.read().await.unwrap() });
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(guard);
        let reader = tokio::time::timeout(SOON, waiting).await;
        let reader = reader.expect("it is in: not within 500 ms").unwrap();
        for file in std::fs::read_dir(directory.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
        let lost = tokio::time::timeout(SOON, reader.lost()).await;
        lost.expect("it is told: not within 500 ms");
    }
}
