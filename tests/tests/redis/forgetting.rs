//! Servers that forget: keys, everything, or how to do it.

use crate::{LEASE, SOON, TOKENS, client, key, options, server, within, works};
use lockwork::{Instant, Locks, Loss};
use lockwork_conformance::generous;
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

async fn is_told(locks: &Locks, forget: impl Fn()) {
    let guard = locks.mutex("x").lock().await.unwrap();
    let forgotten = Instant::now();
    forget();
    let loss = within(SOON, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Taken);
    let told = forgotten.elapsed();
    println!("told after {told:?} (lease {LEASE:?})");
    // Renewed at a third of the lease.
    assert!(told < generous(LEASE / 2), "too late: {told:?}");
    let next = locks.mutex("x").lock().await.unwrap();
    assert!(next.token() > guard.token());
    next.release().await.unwrap();
}

#[tokio::test]
async fn a_lock_whose_key_is_gone_is_lost_at_the_next_renewal_and_tokens_rise() {
    let server = server();
    let locks = client(server.port()).await;
    is_told(&locks, || drop(server.ask(&["FLUSHALL"]).unwrap())).await;
    is_told(&locks, || drop(server.ask(&["DEL", &key("x")]).unwrap())).await;
    is_told(&locks, || {
        drop(server.ask(&["DEL", &key("x"), TOKENS]).unwrap());
    })
    .await;
}

#[tokio::test]
async fn who_waits_when_everything_is_forgotten_gets_in() {
    let server = server();
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = crate::wait_for(&there, "x");
    crate::until_waiting(&here, "x", 1).await;
    server.ask(&["FLUSHALL"]).unwrap();
    let (next, _) = within(LEASE, "the waiter gets in", waiting).await.unwrap();
    assert!(next.token() > guard.token());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_forgets_the_script_all_the_time_is_told_it_again() {
    let server = server();
    let locks = crate::locks(options(server.port())).await;
    let (over, flushes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let end = Instant::now() + Duration::from_secs(3);
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let locks = locks.clone();
        tasks.spawn(async move {
            let mut taken = 0_usize;
            while !end.has_passed() {
                works(&locks, &(task % 2).to_string()).await;
                taken += 1;
            }
            taken
        });
    }
    let taken: usize = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                server.ask(&["SCRIPT", "FLUSH"]).unwrap();
                flushes.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(10));
            }
        });
        let all = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(tasks.join_all())
        });
        over.store(true, Ordering::Relaxed);
        all.into_iter().sum()
    });
    let flushes = flushes.into_inner();
    println!("{taken} locks taken and released over {flushes} flushes, no error");
    assert!(flushes > 50 && taken > flushes, "{taken}, {flushes}");
}
