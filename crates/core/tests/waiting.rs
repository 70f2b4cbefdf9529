//! Waiting for a server that is asked again and again: when it is asked, and when that ends.
//!
//! Where only pauses count, time is tokio's and stands still until everybody waits; deadlines are
//! on the real clock, so tests of deadlines are too.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{
    events::{Count, Gate},
    hold::{FakeHold, Ledger},
    in_the_act, ms, mutex_id, poll_once, within,
};
use lockwork_core::lock::{
    Deadline, Error, ErrorKind, Instant, Result,
    backend::{Attempt, Hints, Listener, Pace, Releases, wait_for_grant},
};
use std::{
    future::{Future, ready},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

const BUSY: Attempt<FakeHold> = Attempt::Busy { again_in: None };

/// No pause of this pace ends within a test.
const NEVER: Pace = Pace {
    least: Duration::from_secs(3600),
    most: Duration::from_secs(3600),
};

/// A server that grants the try with the number `grants`, and counts.
#[derive(Clone, Debug, Default)]
struct Server {
    grants: usize,
    again_in: Option<Duration>,
    tries: Count,
    ledger: Ledger,
    times: Arc<Mutex<Vec<tokio::time::Instant>>>,
}

impl Server {
    fn granting(grants: usize) -> Self {
        Self {
            grants,
            ..Self::default()
        }
    }

    fn attempt(&self) -> impl Future<Output = Result<Attempt<FakeHold>>> + Send + 'static {
        self.tries.add();
        self.times.lock().unwrap().push(tokio::time::Instant::now());
        let again_in = self.again_in;
        ready(Ok(if self.tries.get() == self.grants {
            Attempt::Granted(self.ledger.hold())
        } else {
            Attempt::Busy { again_in }
        }))
    }

    /// Waits as a backend does, and says whether it was granted.
    async fn wait(&self, deadline: Deadline, pace: Pace, listener: Option<Listener>) -> bool {
        let releases = Releases::new();
        let granted = wait_for_grant(deadline, pace, listener, &releases, || self.attempt());
        granted.await.unwrap().is_some()
    }

    /// How long it was between one try and the next.
    fn pauses(&self) -> Vec<Duration> {
        let times = self.times.lock().unwrap();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

#[tokio::test]
async fn what_is_free_is_granted_at_the_first_try() {
    within(ms(5000), async {
        let server = Server::granting(1);
        assert!(server.wait(Deadline::Never, NEVER, None).await);
        assert_eq!(server.tries.get(), 1);
    })
    .await;
}

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
        let attempt = || {
            let (gate, attempt) = (gate.clone(), server.attempt());
            async move {
                gate.pass().await;
                attempt.await
            }
        };
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

#[tokio::test(start_paused = true)]
async fn without_any_hint_the_longest_pause_bounds_the_wait() {
    within(ms(600_000), async {
        let (least, most) = (ms(50), ms(400));
        let (server, hints) = (Server::granting(200), Hints::new());
        let listener = Some(hints.listen(&mutex_id("a")));
        assert!(
            server
                .wait(Deadline::Never, Pace { least, most }, listener)
                .await
        );
        let pauses = server.pauses();
        assert_eq!(pauses.len(), 199);
        // Timers tick in milliseconds.
        let bounded = |pause: &Duration| (least..=most + ms(1)).contains(pause);
        assert!(pauses.iter().all(bounded), "{pauses:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_to_at_most_three_times_the_one_before_and_differ() {
    within(ms(600_000), async {
        let (least, most) = (ms(20), ms(2000));
        let server = Server::granting(100);
        assert!(
            server
                .wait(Deadline::Never, Pace { least, most }, None)
                .await
        );
        let pauses = server.pauses();
        let grows = |pair: &[Duration]| pair[1] <= pair[0] * 3 + ms(1);
        assert!(pauses.windows(2).all(grows), "{pauses:?}");
        assert!(pauses[0] <= least + ms(1), "it begins with the shortest");
        let longest = pauses.iter().max().unwrap();
        assert!(*longest > least * 3, "they grow: {pauses:?}");
        let mut sorted = pauses.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(sorted.len() > 10, "no herd comes in step: {pauses:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pace_that_makes_no_sense_is_a_pace_all_the_same() {
    within(ms(600_000), async {
        for (least, most, longest) in [(ms(50), ms(10), ms(51)), (ms(0), ms(0), ms(2))] {
            for again_in in [None, Some(ms(0)), Some(ms(20))] {
                let server = Server {
                    again_in,
                    ..Server::granting(20)
                };
                let pace = Pace { least, most };
                assert!(server.wait(Deadline::Never, pace, None).await);
                let pauses = server.pauses();
                let bounded = |pause: &Duration| (least.max(ms(1))..=longest).contains(pause);
                assert!(pauses.iter().all(bounded), "{pauses:?}");
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_time_a_server_names_is_waited_for_within_the_bounds_of_the_pace() {
    within(ms(600_000), async {
        let pace = Pace {
            least: ms(50),
            most: ms(2000),
        };
        for (named, waited) in [(ms(700), ms(700)), (ms(1), ms(50)), (ms(9000), ms(2000))] {
            let server = Server {
                again_in: Some(named),
                ..Server::granting(4)
            };
            assert!(server.wait(Deadline::Never, pace, None).await);
            for pause in server.pauses() {
                let late = pause.checked_sub(waited).expect("not before its time");
                assert!(late <= ms(1), "too late: {pause:?} instead of {waited:?}");
            }
        }
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

#[tokio::test]
async fn a_wait_dropped_during_a_try_gives_back_what_that_brings() {
    within(ms(5000), async {
        let (server, gate) = (Server::granting(1), Gate::closed());
        let releases = Releases::new();
        let attempt = || {
            let (gate, attempt) = (gate.clone(), server.attempt());
            async move {
                gate.pass().await;
                attempt.await
            }
        };
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
        let attempt = || {
            let (gate, attempt) = (gate.clone(), server.attempt());
            async move {
                gate.pass().await;
                attempt.await
            }
        };
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
