//! What becomes of a wait, or of a grant, that is dropped.

use crate::{
    NEVER, Server,
    common::{events::Gate, in_the_act, ms, mutex_id, poll_once, within},
};
use lockwork_core::lock::{
    Deadline,
    backend::{Hints, Releases, wait_for_grant},
};
use std::pin::pin;

#[tokio::test]
async fn a_wait_dropped_during_a_try_gives_back_what_that_brings() {
    within(ms(5000), async {
        let (server, gate) = (Server::granting(1), Gate::closed());
        let releases = Releases::new();
        let attempt = || server.attempt_behind(&gate);
        let mut waiting = Box::pin(wait_for_grant(
            Deadline::Never,
            NEVER,
            None,
            &releases,
            attempt,
        ));
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        gate.open();
        server.ledger.released.reached(1).await;
        assert_eq!(server.tries.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_for_releases_waits_for_a_try_that_may_need_one() {
    within(ms(5000), async {
        let (server, gate) = (Server::granting(1), Gate::closed());
        let releases = Releases::new();
        let attempt = || server.attempt_behind(&gate);
        let deadline = Deadline::Never;
        let mut waiting = Box::pin(wait_for_grant(deadline, NEVER, None, &releases, attempt));
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        in_the_act(&gate, &mut pin!(releases.settled()), |settled| {
            assert!(settled.is_ready());
            assert_eq!(server.ledger.released.get(), 1, "what it brought is back");
        });
    })
    .await;
}

#[tokio::test]
async fn a_wait_dropped_between_tries_leaves_nobody_listening() {
    within(ms(5000), async {
        let (server, hints, id) = (Server::granting(2), Hints::new(), mutex_id("a"));
        let listener = Some(hints.listen(&id));
        let mut waiting = Box::pin(server.wait(Deadline::Never, NEVER, listener));
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        assert!(hints.listened().is_empty());
        assert!(!hints.hint(&id));
        assert_eq!(server.tries.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_grant_that_is_dropped_is_given_back_and_counted() {
    within(ms(5000), async {
        let (server, releases) = (Server::granting(1), Releases::new());
        let granted = wait_for_grant(Deadline::Now, NEVER, None, &releases, || server.attempt());
        let granted = granted.await.unwrap();
        server.ledger.release.close();
        drop(granted);
        let mut settled = pin!(releases.settled());
        assert!(poll_once(&mut settled).is_pending());
        server.ledger.release.open();
        settled.await;
        assert_eq!(server.ledger.released.get(), 1);
    })
    .await;
}
