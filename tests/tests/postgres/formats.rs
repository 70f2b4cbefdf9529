//! Who shares locks with us: other versions of ourselves, and .NET.

use crate::{SOON, client, locks, options, server, within};
use lockwork::{ErrorKind, postgres::Compat};
use lockwork_servers::postgres::psql;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
};

/// A session in `psql` that stays.
struct Session(Child);

impl Session {
    /// Runs `text`, and stays when it is done.
    fn with(url: &str, text: &str) -> Self {
        let mut psql = psql(url, "SELECT 1").unwrap();
        // Orders come through its standard input instead.
        let mut psql = {
            let mut anew = std::process::Command::new(psql.get_program());
            anew.args(["-XAtq", "-d", url]);
            psql = anew;
            psql
        };
        let mut child = psql
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{text}; SELECT 'done';").unwrap();
        child.stdin = Some(stdin);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map(Result::unwrap).any(|line| line == "done"));
        Self(child)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn nodes_of_another_key_format_are_refused_and_refuse() {
    let server = server(&[]);
    let url = server.url();
    // As the next version would say that it is there: 'lkwk' and its number.
    let other = Session::with(&url, "SELECT pg_advisory_lock_shared(1818982251, 2)");
    let refused = options(&url).connect().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert!(
        refused.to_string().contains("their_key_format=2"),
        "{refused}"
    );
    drop(other);
    let ours = client(&url).await;
    let _guard = ours.mutex("x").lock().await.unwrap();
    let seen = server
        .sql("SELECT count(*) FROM pg_locks WHERE classid = 1818982251 AND objid = 1")
        .unwrap();
    assert_ne!(seen.trim(), "0", "they see us");
}

#[tokio::test]
async fn locks_are_shared_with_dot_net() {
    let server = server(&[]);
    let url = server.url();
    let compat = options(&url).compat(Compat::Medallion);
    let ours = locks(compat.connect().await.unwrap());
    // "my-lock-1", as DistributedLock takes it.
    let theirs = Session::with(&url, "SELECT pg_advisory_lock(-605720883, -118117022)");
    assert!(ours.mutex("my-lock-1").try_lock().await.unwrap().is_none());
    drop(theirs);
    let guard = within(SOON, "a lock", ours.mutex("my-lock-1").lock())
        .await
        .unwrap();
    let busy = server.sql("SELECT pg_try_advisory_lock(-605720883, -118117022)");
    assert_eq!(busy.unwrap().trim(), "f");
    guard.release().await.unwrap();
    // A long name is one number.
    let reader = ours.rw_lock("some very long name").read().await.unwrap();
    let busy = server.sql("SELECT pg_try_advisory_lock(1765484347666752899)");
    assert_eq!(busy.unwrap().trim(), "f");
    let shared = server.sql("SELECT pg_try_advisory_lock_shared(1765484347666752899)");
    assert_eq!(shared.unwrap().trim(), "t");
    drop(reader);
    let missing = ours.semaphore("x", 3).acquire().await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Unsupported);
}
