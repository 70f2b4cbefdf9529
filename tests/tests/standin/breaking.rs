//! What goes wrong on the way, and what is left then.

use crate::{KINDS, LASTING, SOON, becomes, lasting, limited, nothing_stays, request};
use lockwork::{Backend, Deadline, ErrorKind, Hold, Instant, Locks, Loss};
use lockwork_conformance::standin::Server;
use rand::RngExt;
use std::time::Duration;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

#[tokio::test]
async fn a_grant_whose_reply_was_lost_is_granted_once() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        backend.ping().await.unwrap();
        server.drop_replies(1);
        let ask = request("lost", Deadline::Now);
        let hold = backend.acquire(ask.clone()).await.unwrap().unwrap();
        let found = backend.holders(&ask.id()).await.unwrap();
        assert_eq!(found.holders.len(), 1);
        assert_eq!(found.holders[0].token, hold.token());
        assert_eq!(found.holders[0].owner, ask.owner);
        hold.release().await.unwrap();
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_request_that_is_given_up_after_lost_replies_leaves_nothing() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        backend.ping().await.unwrap();
        server.drop_replies(2);
        let given_up = backend.acquire(request("lost", Deadline::Never)).await;
        assert_eq!(given_up.unwrap_err().kind(), ErrorKind::Unavailable);
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_request_dropped_while_its_reply_is_lost_leaves_nothing() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            let locks = kind(&server);
            drop(locks.mutex("connected").lock().await.unwrap());
            nothing_stays(&server).await;
            server.pause(true);
            let mutex = locks.mutex("dropped");
            let dropped = timeout(Duration::from_millis(20), mutex.lock()).await;
            assert!(dropped.is_err());
            let before = server.requests_handled();
            server.drop_replies(1);
            server.pause(false);
            becomes("the request has arrived", SOON, || {
                server.requests_handled() > before
            })
            .await;
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_deadline_passes_leaves_the_line_at_once() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        let hold = backend.acquire(request("busy", Deadline::Now)).await;
        let other = lasting(&server);
        let deadline = Deadline::At(Instant::now() + Duration::from_millis(100));
        let refused = other.acquire(request("busy", deadline)).await.unwrap();
        assert!(refused.is_none());
        becomes("nobody waits", SOON / 2, || server.waiters_now() == 0).await;
        hold.unwrap().unwrap().release().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_guard_is_lost_when_the_server_cuts_it_off_and_can_be_taken_anew() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let locks = kind(&server);
            let guard = locks.mutex("cut").lock().await.unwrap();
            server.sever_all();
            let loss = guard.lost().await;
            assert!(matches!(loss, Loss::Taken | Loss::Disconnected), "{loss}");
            let again = taken_anew(&locks).await;
            assert!(again > guard.token());
        }
    })
    .await;
}

/// Takes the lock, though the server may be about to close the connection it is asked on.
async fn taken_anew(locks: &Locks) -> Option<lockwork::Token> {
    loop {
        match locks.mutex("cut").lock().await {
            Ok(guard) => return guard.token(),
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_broken_lock_is_lost_and_free() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let guard = one.mutex("broken").lock().await.unwrap();
            assert_eq!(two.mutex("broken").break_lock("a test").await.unwrap(), 1);
            guard.lost().await;
            let next = two.mutex("broken").lock().await.unwrap();
            assert!(next.token() > guard.token());
        }
    })
    .await;
}

#[tokio::test]
async fn two_hundred_cancelled_requests_leave_nothing() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            server.delay(Duration::from_millis(1));
            let clients: Vec<Locks> = (0..4).map(|_| kind(&server)).collect();
            let mut tasks = JoinSet::new();
            for number in 0..200 {
                let locks = clients[number % clients.len()].clone();
                tasks.spawn(async move {
                    let (patience, pause, hold) = {
                        let mut rng = rand::rng();
                        let mut micros = |most| Duration::from_micros(rng.random_range(0..most));
                        (micros(30_000), micros(60_000), micros(1_000))
                    };
                    sleep(pause).await;
                    let mutex = locks.mutex(["a", "b", "c"][number % 3]);
                    let held = async {
                        let guard = mutex.lock().await.unwrap();
                        sleep(hold).await;
                        drop(guard);
                    };
                    let _ = timeout(patience, held).await;
                });
            }
            tasks.join_all().await;
            nothing_stays(&server).await;
        }
    })
    .await;
}
