//! Children of a process that holds a lock.

use crate::{contender::Contender, directory::Directory};
use lockwork::Locks;
use lockwork_conformance::generous;
use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

const SOON: Duration = Duration::from_millis(100);

async fn is_free_soon(locks: &Locks) {
    let next = locks.mutex("x");
    let next = tokio::time::timeout(generous(SOON), next.lock()).await;
    drop(next.expect("it is free: not within 100 ms").unwrap());
}

/// The process that a contender said it started, ended when dropped.
struct Grandchild(i32);

impl Drop for Grandchild {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.0).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[tokio::test]
async fn a_child_that_was_just_started_does_not_keep_its_dead_parents_lock() {
    let directory = Directory::new();
    let locks = directory.client();
    let mut parent = Contender::new(&directory.url(), "parent", "x", 1);
    parent.go();
    let child = parent.line().unwrap();
    let child = Grandchild(child.strip_prefix("child ").unwrap().parse().unwrap());
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    parent.kill_only();
    is_free_soon(&locks).await;
    let alive = format!("/proc/{}/stat", child.0);
    let alive = std::fs::read_to_string(alive).unwrap();
    assert!(
        !alive.contains(") Z "),
        "the child ended: this proves nothing"
    );
}

/// A child that has `guard`'s descriptor and nothing else of it.
fn child_with(guard: &lockwork::Guard) -> Child {
    let mut descriptors = guard.descriptors().unwrap();
    assert_eq!(descriptors.len(), 1);
    let stdin = Stdio::from(descriptors.remove(0));
    Command::new("sleep")
        .arg("60")
        .stdin(stdin)
        .spawn()
        .unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_child_with_the_descriptor_keeps_the_lock_until_it_ends() {
    let directory = Directory::new();
    let locks = directory.client();
    let mut parent = Contender::new(&directory.url(), "bequeath", "x", 1);
    parent.go();
    let child = parent.line().unwrap();
    let child = Grandchild(child.strip_prefix("child ").unwrap().parse().unwrap());
    parent.kill_only();
    let next = locks.mutex("x");
    let kept = next.try_lock_for(Duration::from_millis(300)).await.unwrap();
    assert!(kept.is_none());
    drop(child);
    is_free_soon(&locks).await;
}

#[tokio::test]
async fn a_release_tells_who_waits_though_a_child_has_the_descriptor() {
    let directory = Directory::new();
    let (locks, other) = (directory.client(), directory.client());
    for _ in 0..5 {
        let guard = locks.mutex("x").lock().await.unwrap();
        let child = child_with(&guard);
        let next = other.mutex("x");
        let waiting = tokio::spawn(async move { next.lock().await.unwrap() });
        tokio::time::sleep(Duration::from_millis(50)).await;
        guard.release().await.unwrap();
        let next = tokio::time::timeout(generous(SOON), waiting).await;
        drop(next.expect("it is told: not within 100 ms").unwrap());
        end(child);
    }
}
