//! A server that follows another: its locks would exclude nobody.

use crate::{asking, canary, connect, guarded, refusal, url};
use lockwork::ErrorKind::Denied;
use lockwork_servers::{Redis, RedisSettings};
use std::sync::{
    Arc,
    atomic::{AtomicU16, Ordering::SeqCst},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

const ADVICE: &str = "connect to its primary";

fn follow(replica: &Redis, primary: Option<&Redis>) {
    match primary {
        Some(primary) => {
            let port = primary.port().to_string();
            replica.ask(&["REPLICAOF", "127.0.0.1", &port]).unwrap();
        }
        None => drop(replica.ask(&["REPLICAOF", "NO", "ONE"]).unwrap()),
    }
}

#[tokio::test]
async fn a_replica_is_refused_until_it_is_the_primary() {
    let (primary, replica) = (guarded(RedisSettings::new()), guarded(RedisSettings::new()));
    follow(&replica, Some(&primary));
    refusal::expect(&url(replica.port(), "admin"), Denied, ADVICE).await;
    follow(&replica, None);
    let locks = connect(replica.port()).await;
    let guard = locks.mutex("promoted").lock().await.unwrap();
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_primary_that_becomes_a_replica_grants_nothing_until_it_is_one_again() {
    let (primary, other) = (guarded(RedisSettings::new()), guarded(RedisSettings::new()));
    let locks = connect(primary.port()).await;
    let guard = locks.mutex("before").lock().await.unwrap();
    guard.release().await.unwrap();
    follow(&primary, Some(&other));
    asking::expect(&locks, Denied, ADVICE).await;
    for error in [
        asking::error_of(locks.rw_lock("later").try_read()).await,
        asking::error_of(locks.semaphore("later", 1).try_acquire()).await,
        asking::error_of(locks.all(["later", "latest"]).try_lock()).await,
    ] {
        refusal::is(&error, Denied, ADVICE);
    }
    follow(&primary, None);
    let guard = locks.mutex("after").lock().await.unwrap();
    guard.release().await.unwrap();
    canary::is_not_in_the_log();
}

/// An address that leads to a port, which may change for those who connect later; its own port.
async fn leads_to(target: Arc<AtomicU16>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let target = target.load(SeqCst);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    port
}

/// As after a failover: what was the primary is still there, and connections to it stay open.
#[tokio::test]
async fn an_address_that_leads_to_a_new_primary_is_asked_anew() {
    let (old, new) = (guarded(RedisSettings::new()), guarded(RedisSettings::new()));
    let target = Arc::new(AtomicU16::new(old.port()));
    let locks = connect(leads_to(target.clone()).await).await;
    let guard = locks.mutex("before").lock().await.unwrap();
    guard.release().await.unwrap();
    follow(&old, Some(&new));
    target.store(new.port(), SeqCst);
    let guard = locks.mutex("after").lock().await.unwrap();
    let there = ["EXISTS", "lockwork:1:{mutex:after}"];
    assert_eq!(new.ask(&there).unwrap(), "1");
    guard.release().await.unwrap();
}
