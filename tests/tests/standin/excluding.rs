//! Who is in, and in which order they come.

use crate::{KINDS, OWNER, Raw, SOON, becomes, limited, nothing_stays, request};
use lockwork::{Backend, Deadline, Hold};
use lockwork_conformance::standin::{LeaseBackend, Server};
use tokio::task::JoinSet;

#[tokio::test]
async fn two_clients_exclude_each_other() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let guard = one.mutex("ключ/鍵").lock().await.unwrap();
            assert!(two.mutex("ключ/鍵").try_lock().await.unwrap().is_none());
            assert!(two.mutex("ключ").try_lock().await.unwrap().is_some());
            let waiting = tokio::spawn(async move { two.mutex("ключ/鍵").lock().await });
            let first = guard.token();
            guard.release().await.unwrap();
            assert!(waiting.await.unwrap().unwrap().token() > first);
        }
    })
    .await;
}

#[tokio::test]
async fn a_semaphore_counts_the_permits_of_all_clients() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let (one, two) = (one.semaphore("s", 3), two.semaphore("s", 3));
            let _first = one.acquire().await.unwrap();
            let _second = one.acquire().await.unwrap();
            let _third = two.acquire().await.unwrap();
            assert!(two.try_acquire().await.unwrap().is_none());
            assert!(one.try_acquire().await.unwrap().is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn waiters_come_in_in_the_order_of_their_arrival() {
    limited(async {
        let server = Server::start();
        let first = LeaseBackend::new(server.addr());
        let guard = first.acquire(request("line", Deadline::Now)).await;
        let guard = guard.unwrap().unwrap();
        let mut waiters = JoinSet::new();
        for number in 0..5 {
            let addr = server.addr();
            waiters.spawn(async move {
                let backend = LeaseBackend::new(addr);
                let hold = backend.acquire(request("line", Deadline::Never)).await;
                let hold = hold.unwrap().unwrap();
                let token = hold.token();
                hold.release().await.unwrap();
                (token, number)
            });
            becomes("one more waits", SOON, || {
                server.waiters_now() == number + 1
            })
            .await;
        }
        guard.release().await.unwrap();
        let mut order = waiters.join_all().await;
        order.sort();
        let order: Vec<usize> = order.into_iter().map(|(_, number)| number).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_waiter_that_falls_silent_loses_its_place() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let other = OWNER.replace("00", "ff");
        let granted = raw
            .says(&format!("1 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(granted, "1 granted 1");
        let busy = raw
            .says(&format!("2 try mutex:78 {OWNER} exclusive 300 wait"))
            .await;
        assert!(busy.starts_with("2 busy "), "{busy}");
        becomes("the lease has run out", SOON, || server.locks_now() == 0).await;
        let ahead = raw
            .says(&format!("3 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(ahead, "3 busy -");
        becomes("nobody waits", 2 * SOON, || server.waiters_now() == 0).await;
        let granted = raw
            .says(&format!("4 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(granted, "4 granted 2");
    })
    .await;
}
