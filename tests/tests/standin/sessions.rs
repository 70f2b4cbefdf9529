//! Sessions, and what they hear.

use crate::{Raw, SOON, becomes, limited, request};
use lockwork::{Backend, Deadline, ErrorKind, Hold, Loss, Registry};
use lockwork_conformance::standin::{LEASE, SESSION, Server, SessionBackend};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test]
async fn a_session_is_never_in_its_own_way_but_in_that_of_others() {
    limited(async {
        let server = Server::start();
        let (mut one, mut two) = (Raw::to(&server).await, Raw::to(&server).await);
        let taken = one.says("1 batch +mutex:78/exclusive").await;
        assert_eq!(taken, "1 taken mutex:78/1");
        let again = one.says("2 batch +mutex:78/exclusive").await;
        assert_eq!(again, "2 taken mutex:78/2");
        one.says("3 batch +rwlock:78/write").await;
        let beside = one.says("4 batch +rwlock:78/read").await;
        assert_eq!(beside, "4 taken rwlock:78/-");
        let both = "1 batch +mutex:78/exclusive +rwlock:78/read";
        assert_eq!(two.says(both).await, "1 taken");
        // Counted: given back once, it is held still.
        one.says("5 batch -mutex:78/exclusive -rwlock:78/write")
            .await;
        assert_eq!(two.says(both).await, "1 taken rwlock:78/-");
        drop(one);
        becomes("one lock is free", SOON, || server.locks_now() == 1).await;
        assert_eq!(
            two.says("2 batch +mutex:78/exclusive").await,
            "2 taken mutex:78/4"
        );
    })
    .await;
}

#[tokio::test]
async fn those_who_subscribed_hear_of_what_is_freed_unless_hints_are_muted() {
    limited(async {
        let server = Server::start();
        let (mut ear, mut other) = (Raw::to(&server).await, Raw::to(&server).await);
        assert_eq!(ear.says("1 subscribe").await, "1 ok");
        for muted in [false, true] {
            server.mute_pushes(muted);
            other.says("1 batch +mutex:78/exclusive").await;
            other.says("2 batch -mutex:78/exclusive").await;
            if !muted {
                assert_eq!(ear.hears().await, "freed mutex:78");
            }
            assert_eq!(ear.says("2 ping").await, "2 ok");
        }
    })
    .await;
}

#[tokio::test]
async fn the_server_ends_a_silent_session_but_not_one_that_pings() {
    limited(async {
        let limit = Duration::from_millis(600);
        let server = Server::with_session_timeout(limit);
        let mut silent = Raw::to(&server).await;
        silent.says("1 batch +mutex:78/exclusive").await;
        let pinging = SessionBackend::with_session_timeout(server.addr(), limit);
        let hold = pinging.acquire(request("held", Deadline::Now)).await;
        let hold = hold.unwrap().unwrap();
        assert_eq!(silent.hears().await, "");
        becomes("one lock is free", SOON, || server.locks_now() == 1).await;
        sleep(2 * limit).await;
        assert_eq!(hold.lost().get(), None);
        server.pause(true);
        let loss = hold.lost().await;
        assert!(matches!(loss, Loss::Expired | Loss::Disconnected), "{loss}");
        becomes("the other is free too", SOON, || server.locks_now() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_url_finds_the_stand_in() {
    limited(async {
        let server = Server::start();
        let registry = Registry::new().with(LEASE).with(SESSION);
        let addr = server.addr();
        for url in [
            format!("standin-lease://{addr}?lease=500ms&tenure=0"),
            format!("standin-session://{addr}?capacity=1&bears=5s&tenure=1ms"),
        ] {
            let locks = registry.connect(&url).await.unwrap();
            let guard = locks.mutex("by url").lock().await.unwrap();
            assert_eq!(server.locks_now(), 1);
            guard.release().await.unwrap();
            assert!(locks.doctor().await.unwrap().is_safe());
        }
        let misspelt = format!("standin-lease://{addr}?leese=1s");
        let unknown = registry.connect(&misspelt).await;
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::Invalid);
        drop(server);
        let gone = registry.connect(&format!("standin-lease://{addr}")).await;
        assert_eq!(gone.unwrap_err().kind(), ErrorKind::Unavailable);
    })
    .await;
}
