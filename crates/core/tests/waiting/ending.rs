//! When a wait is over: it was granted, its time is up, or it went wrong.

use crate::{
    BUSY, NEVER, Server,
    common::{
        events::{Count, Gate},
        ms, mutex_id, within,
    },
};
use lockwork_core::lock::{
    Deadline, Error, ErrorKind, Instant,
    backend::{Hints, Pace, Releases, wait_for_grant},
};
use std::future::ready;

#[tokio::test]
async fn what_is_free_is_granted_at_the_first_try() {
    within(ms(5000), async {
        let server = Server::granting(1);
        assert!(server.wait(Deadline::Never, NEVER, None).await);
        assert_eq!(server.tries.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn one_who_does_not_wait_tries_exactly_once() {
    within(ms(5000), async {
        let hints = Hints::new();
        let past = Deadline::At(Instant::now() - ms(1000));
        for deadline in [Deadline::Now, past, Deadline::At(Instant::now())] {
            let server = Server::granting(2);
            let listener = hints.listen(&mutex_id("a"));
            hints.hint(&mutex_id("a"));
            assert!(!server.wait(deadline, NEVER, Some(listener)).await);
            assert_eq!(server.tries.get(), 1, "{deadline:?}");
            let server = Server::granting(1);
            assert!(server.wait(deadline, NEVER, None).await, "{deadline:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_last_try_is_at_the_deadline() {
    within(ms(5000), async {
        let begun = Instant::now();
        let server = Server::granting(3);
        let deadline = Deadline::At(begun + ms(150));
        assert!(!server.wait(deadline, NEVER, None).await);
        assert_eq!(server.tries.get(), 2);
        assert!(begun.elapsed() >= ms(150));
        assert!(
            begun.elapsed() < ms(1000),
            "too late: and no later than that"
        );
    })
    .await;
}

#[tokio::test]
async fn what_becomes_free_just_before_the_deadline_is_granted() {
    within(ms(5000), async {
        let server = Server::granting(2);
        let deadline = Deadline::At(Instant::now() + ms(100));
        assert!(server.wait(deadline, NEVER, None).await);
    })
    .await;
}

#[tokio::test]
async fn a_deadline_that_passes_during_a_try_still_gets_its_last_one() {
    within(ms(5000), async {
        let (server, releases) = (Server::granting(2), Releases::new());
        let deadline = Deadline::At(Instant::now() + ms(60));
        let attempt = || {
            let attempt = server.attempt();
            async move {
                tokio::time::sleep(ms(90)).await;
                attempt.await
            }
        };
        let granted = wait_for_grant(deadline, NEVER, None, &releases, attempt).await;
        assert!(granted.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_waited_for_long_after_the_deadline() {
    within(ms(5000), async {
        let (server, gate, releases) = (Server::granting(2), Gate::closed(), Releases::new());
        let attempt = || {
            let (gate, attempt) = (gate.clone(), server.attempt());
            let is_silent = server.tries.get() > 1;
            async move {
                if is_silent {
                    gate.pass().await;
                }
                attempt.await
            }
        };
        let deadline = Instant::now() + ms(50);
        let waited = wait_for_grant(Deadline::At(deadline), NEVER, None, &releases, attempt).await;
        assert_eq!(waited.unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(deadline.has_passed(), "it had its time");
        gate.open();
        server.ledger.released.reached(1).await;
    })
    .await;
}

#[tokio::test]
async fn an_error_ends_the_wait() {
    within(ms(5000), async {
        let (tries, releases) = (Count::default(), Releases::new());
        let attempt = || {
            tries.add();
            ready(if tries.get() == 1 {
                Ok(BUSY)
            } else {
                Err(Error::new(ErrorKind::Denied, "no entry"))
            })
        };
        let pace = Pace {
            least: ms(1),
            most: ms(1),
        };
        let failed = wait_for_grant(Deadline::Never, pace, None, &releases, attempt).await;
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Denied);
        assert_eq!(tries.get(), 2);
    })
    .await;
}
