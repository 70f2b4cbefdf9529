//! Who is told that something may be free, and when that counts.

use crate::{
    NEVER, Server,
    common::{events::Gate, ms, mutex_id, poll_once, within},
};
use lockwork_core::lock::{
    Deadline,
    backend::{Hints, Releases, wait_for_grant},
};
use std::{pin::pin, time::Duration};

#[tokio::test(start_paused = true)]
async fn a_hint_wakes_a_waiter_at_once() {
    within(ms(60_000), async {
        let (server, hints, id) = (Server::granting(2), Hints::new(), mutex_id("a"));
        let listener = Some(hints.listen(&id));
        let mut waiting = Box::pin(server.wait(Deadline::Never, NEVER, listener));
        assert!(poll_once(&mut waiting).is_pending());
        let hinted_at = tokio::time::Instant::now();
        assert!(hints.hint(&id));
        assert!(waiting.await);
        assert_eq!(hinted_at.elapsed(), Duration::ZERO);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_hint_wakes_everybody_who_waits_for_its_lock_and_nobody_else() {
    within(ms(60_000), async {
        let hints = Hints::new();
        let servers = [(); 3].map(|()| Server::granting(2));
        let names = ["a", "a", "b"];
        let mut waiting: Vec<_> = servers
            .iter()
            .zip(names)
            .map(|(server, name)| {
                let listener = Some(hints.listen(&mutex_id(name)));
                Box::pin(server.wait(Deadline::Never, NEVER, listener))
            })
            .collect();
        for waiter in &mut waiting {
            assert!(poll_once(waiter).is_pending());
        }
        hints.hint(&mutex_id("a"));
        let ready = waiting.iter_mut().map(|w| poll_once(w).is_ready());
        assert_eq!(ready.collect::<Vec<_>>(), [true, true, false]);
        hints.hint_all();
        assert!(poll_once(&mut waiting[2]).is_ready());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_comes_during_a_try_is_not_lost() {
    within(ms(60_000), async {
        let (server, hints, id) = (Server::granting(2), Hints::new(), mutex_id("a"));
        let (gate, releases) = (Gate::closed(), Releases::new());
        let listener = Some(hints.listen(&id));
        let attempt = || server.attempt_behind(&gate);
        let mut waiting = pin!(wait_for_grant(
            Deadline::Never,
            NEVER,
            listener,
            &releases,
            attempt
        ));
        assert!(poll_once(&mut waiting).is_pending());
        // The answer "busy" is on its way when the lock becomes free.
        hints.hint(&id);
        gate.open();
        assert!(waiting.await.unwrap().is_some());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_came_before_the_first_wait_counts() {
    within(ms(60_000), async {
        let (hints, id) = (Hints::new(), mutex_id("a"));
        let mut listener = hints.listen(&id);
        hints.hint(&id);
        listener.hinted().await;
        assert!(poll_once(&mut pin!(listener.hinted())).is_pending(), "once");
        let mut waiting = Box::pin(listener.hinted());
        assert!(poll_once(&mut waiting).is_pending());
        hints.hint(&id);
        drop(waiting);
        listener.hinted().await; // not lost with the call that was dropped
    })
    .await;
}

#[tokio::test]
async fn a_hint_reaches_listeners_for_as_long_as_they_listen() {
    within(ms(5000), async {
        let (hints, id) = (Hints::new(), mutex_id("a"));
        assert!(!hints.hint(&id));
        let (one, two) = (hints.listen(&id), hints.listen(&id));
        assert_eq!(hints.listened(), std::slice::from_ref(&id));
        drop(one);
        assert!(hints.hint(&id));
        drop(two);
        assert!(!hints.hint(&id));
        assert!(hints.listened().is_empty());
    })
    .await;
}

#[tokio::test]
async fn who_listens_later_hears_what_came_meanwhile() {
    within(ms(5000), async {
        let (hints, id) = (Hints::new(), mutex_id("a"));
        // Nobody listens when it comes.
        let mut later = hints.listen_later(&id);
        assert_eq!(hints.listened(), []);
        assert!(!hints.hint(&id));
        later.hinted().await;
        assert!(poll_once(&mut pin!(later.hinted())).is_pending(), "once");
        assert_eq!(hints.listened().len(), 1);
        // Somebody else does.
        let mut second = hints.listen_later(&id);
        assert!(hints.hint(&id));
        second.hinted().await;
        later.hinted().await;
        // Somebody else did, and went away before hearing it.
        let mut third = hints.listen_later(&id);
        assert!(hints.hint(&id));
        drop((later, second));
        third.hinted().await;
        let mut fourth = hints.listen_later(&id);
        hints.hint_all();
        fourth.hinted().await;
    })
    .await;
}

#[tokio::test]
async fn who_listens_later_is_not_woken_by_what_others_heard() {
    within(ms(5000), async {
        let (hints, id, other) = (Hints::new(), mutex_id("a"), mutex_id("b"));
        assert!(!hints.hint(&id));
        let _others = hints.listen(&other);
        let mut later = hints.listen_later(&id);
        assert!(hints.hint(&other));
        let mut waiting = Box::pin(later.hinted());
        assert!(poll_once(&mut waiting).is_pending());
        assert!(hints.hint(&id));
        waiting.await;
    })
    .await;
}
