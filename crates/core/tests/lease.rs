//! Leases: when they are renewed, how long they are good, and when they are lost.
//!
//! The clock is the real one, so lengths are a few hundred milliseconds and tolerances are wide
//! where a busy machine could be late, and none where the promise has none.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{
    alone, beside, eventually,
    leases::{Answer, Leases, terms},
    ms, poll_once, within_thread,
};
use lockwork_core::lock::{
    Deadline, ErrorKind, Hold, Instant, Loss, Token,
    backend::{
        keeper,
        lease::{LeaseKeeper, Leased, Renewal, Terms},
    },
};
use std::{sync::Arc, time::Duration};

const RENEWED: Answer = Answer::Each(Renewal::Renewed);

/// A busy machine may be so late.
const LATE: Duration = ms(60);

fn keeping(script: impl IntoIterator<Item = Answer>) -> (Arc<Leases>, LeaseKeeper<Leases>) {
    let server = Leases::answering(script);
    let keeper = LeaseKeeper::new(server.clone(), 128);
    (server, keeper)
}

fn end(lease: &Leased<Leases>) -> Instant {
    lease.valid_until().unwrap()
}

/// A lease of `time` from `since` is good for a hundredth and two milliseconds less.
fn good_for(since: Instant, time: Duration) -> Instant {
    since + time * 99 / 100 - ms(2)
}

/// Waits until the lease has been extended.
async fn extended(lease: &Leased<Leases>, before: Instant) {
    eventually("the lease was extended", || end(lease) != before).await;
}

#[tokio::test]
async fn a_lease_is_good_from_before_it_was_asked_for() {
    beside(ms(5000), async {
        // The reply took nine tenths of the lease.
        let (time, asked_at) = (ms(600), Instant::now() - ms(540));
        let (_, keeper) = keeping([Answer::Never]);
        let lease = keeper.keep(Terms {
            asked_at,
            ..terms("a", time)
        });
        assert_eq!(end(&lease), good_for(asked_at, time));
    })
    .await;
}

#[tokio::test]
async fn a_renewed_lease_is_good_from_before_its_renewal_was_sent() {
    beside(ms(5000), async {
        let time = ms(600);
        let (server, keeper) = keeping([Answer::Late(ms(70), Renewal::Renewed)]);
        let lease = keeper.keep(terms("a", time));
        let before = end(&lease);
        extended(&lease, before).await;
        let received_at = server.calls()[0].at;
        assert!(end(&lease) <= good_for(received_at, time));
        assert!(
            end(&lease) > before + ms(100),
            "and it is longer than it was"
        );
    })
    .await;
}

#[tokio::test]
async fn a_lease_is_renewed_at_about_a_third_of_its_time() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let asked_at = Instant::now();
        let _lease = keeper.keep(Terms {
            asked_at,
            ..terms("a", ms(600))
        });
        server.renewals.reached(3).await;
        let mut before = asked_at;
        for call in server.calls() {
            let after = call.at.saturating_duration_since(before);
            assert!(after >= ms(185), "not before there is need: {after:?}");
            assert!(
                after <= ms(200) + LATE,
                "with time for more tries: {after:?}"
            );
            before = call.at;
        }
    })
    .await;
}

#[tokio::test]
async fn a_kept_lease_is_valid_at_every_moment_of_five_lease_lengths() {
    beside(ms(10_000), async {
        let (_, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(terms("a", ms(400)));
        let begun = Instant::now();
        while begun.elapsed() < ms(2000) {
            assert!(!end(&lease).has_passed());
            assert_eq!(lease.lost().get(), None);
            tokio::time::sleep(ms(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_lease_outlives_a_runtime_whose_every_worker_is_busy() {
    alone(ms(20_000), async {
        // On a thread of its own, since this one has to wait for it.
        let kept = tokio::task::spawn_blocking(|| {
            within_thread(ms(10_000), || {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .unwrap();
                let time = ms(400);
                let (server, _keeper, lease) = runtime.block_on(async {
                    let (server, keeper) = keeping([RENEWED]);
                    let lease = keeper.keep(terms("a", time));
                    (server, keeper, lease)
                });
                let until = std::time::Instant::now() + time * 3;
                let spin = move || async move {
                    while std::time::Instant::now() < until {
                        std::hint::spin_loop();
                    }
                };
                let workers = [runtime.spawn(spin()), runtime.spawn(spin())];
                for worker in workers {
                    runtime.block_on(worker).unwrap();
                }
                assert!(server.renewals.get() >= 3 * 3 - 2);
                (lease.lost().get(), end(&lease).has_passed())
            })
        });
        assert_eq!(kept.await.unwrap(), (None, false));
    })
    .await;
}

#[tokio::test]
async fn two_renewals_that_fail_do_not_lose_a_lease() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([Answer::Fail, Answer::Fail, RENEWED]);
        let lease = keeper.keep(terms("a", ms(600)));
        let before = end(&lease);
        server.renewals.reached(2).await;
        assert_eq!(end(&lease), before, "what failed extends nothing");
        extended(&lease, before).await;
        assert_eq!(lease.lost().get(), None);
        server.renewals.reached(4).await;
        assert!(!end(&lease).has_passed());
    })
    .await;
}

#[tokio::test]
async fn a_renewal_that_is_never_answered_is_tried_again_in_time() {
    beside(ms(5000), async {
        let (_, keeper) = keeping([Answer::Never, RENEWED]);
        let lease = keeper.keep(terms("a", ms(600)));
        let before = end(&lease);
        extended(&lease, before).await;
        assert_eq!(lease.lost().get(), None);
    })
    .await;
}

#[tokio::test]
async fn a_slow_answer_still_counts() {
    beside(ms(5000), async {
        // A sixth of the lease is when another renewal is tried. That one is never answered.
        let (server, keeper) = keeping([Answer::Late(ms(250), Renewal::Renewed), Answer::Never]);
        let lease = keeper.keep(terms("a", ms(900)));
        let before = end(&lease);
        server.renewals.reached(2).await;
        extended(&lease, before).await;
        let received_at = server.calls()[0].at;
        assert!(end(&lease) <= good_for(received_at, ms(900)));
        assert_eq!(lease.lost().get(), None);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_say_is_asked_again() {
    beside(ms(5000), async {
        let (_, keeper) = keeping([Answer::Each(Renewal::Unknown), RENEWED]);
        let lease = keeper.keep(terms("a", ms(600)));
        let before = end(&lease);
        extended(&lease, before).await;
        assert_eq!(lease.lost().get(), None);
    })
    .await;
}

#[tokio::test]
async fn a_lease_whose_renewals_hang_for_ever_is_lost_when_its_time_is_up() {
    beside(ms(5000), async {
        let (_, keeper) = keeping([Answer::Never]);
        let lease = keeper.keep(terms("a", ms(300)));
        let until = end(&lease);
        let loss = lease.lost().await;
        let late = until.elapsed();
        assert_eq!(loss, Loss::Expired);
        assert!(until.has_passed(), "not before its time is up");
        assert!(late <= LATE, "nor long after: {late:?}");
        assert_eq!(end(&lease), until);
        assert!(keeper.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_is_gone_is_lost_at_its_next_renewal() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED, Answer::Each(Renewal::Gone)]);
        let lease = keeper.keep(terms("a", ms(600)));
        let loss = lease.lost().await;
        let late = server.calls()[1].at.elapsed();
        assert_eq!(loss, Loss::Taken);
        assert!(late <= LATE, "promptly: {late:?}");
        assert!(!end(&lease).has_passed(), "not by the clock");
        assert_eq!(server.calls().len(), 2);
        assert!(keeper.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_renewal_that_lands_too_late_counts_as_lost() {
    alone(ms(5000), async {
        // Most of its time is over. The answer is there just before the end, but then the whole
        // machine stops for a moment, and when it is read the end has passed.
        let (time, asked_at) = (ms(1200), Instant::now() - ms(1020));
        let until = good_for(asked_at, time);
        let nearly = until.remaining().saturating_sub(ms(20));
        let (server, keeper) = keeping([Answer::Frozen(nearly, ms(40))]);
        let lease = keeper.keep(Terms {
            asked_at,
            ..terms("a", time)
        });
        assert_eq!(lease.lost().await, Loss::Expired);
        assert!(until.has_passed());
        assert_eq!(server.calls().len(), 1);
        assert_eq!(end(&lease), until, "and heals nothing");
        assert!(keeper.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_comes_after_the_end_heals_nothing() {
    beside(ms(5000), async {
        let (time, asked_at) = (ms(1200), Instant::now() - ms(1020));
        let until = good_for(asked_at, time);
        let after_the_end = until.remaining() + ms(15);
        let (server, keeper) = keeping([Answer::Late(after_the_end, Renewal::Renewed)]);
        let lease = keeper.keep(Terms {
            asked_at,
            ..terms("a", time)
        });
        assert_eq!(lease.lost().await, Loss::Expired);
        assert!(until.has_passed());
        // The answer has come, or is not waited for any more, when others are served again.
        let other = keeper.keep(terms("b", ms(100)));
        server.renewals.reached(2).await;
        assert_eq!(end(&lease), until);
        assert_eq!(server.calls()[1].leases, ["b"], "nor is it renewed again");
        drop(other);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_is_not_to_be_renewed_ends_with_its_first_time() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(Terms {
            renew: false,
            ..terms("a", ms(300))
        });
        let until = end(&lease);
        let loss = lease.lost().await;
        let late = until.elapsed();
        assert_eq!(loss, Loss::Expired);
        assert!(until.has_passed());
        assert!(late <= LATE, "{late:?}");
        assert_eq!(server.renewals.get(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_ran_out_on_its_way_is_lost_at_once() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(Terms {
            asked_at: Instant::now() - ms(600),
            ..terms("a", ms(600))
        });
        assert_eq!(lease.lost().await, Loss::Expired);
        assert_eq!(server.renewals.get(), 0, "there is nothing left to renew");
    })
    .await;
}

#[tokio::test]
async fn a_thousand_leases_are_renewed_in_few_calls_and_without_a_task_for_each() {
    alone(ms(20_000), async {
        let tasks_before = keeper::tasks();
        let (server, keeper) = keeping([RENEWED]);
        let keep = |n: usize| keeper.keep(terms(&n.to_string(), ms(900)));
        let leases: Vec<_> = (0..1000).map(keep).collect();
        let renewed = || server.calls().iter().map(|c| c.leases.len()).sum::<usize>();
        let mut most_tasks = 0;
        eventually("three rounds of renewals", || {
            most_tasks = most_tasks.max(keeper::tasks());
            renewed() >= 3000
        })
        .await;
        let (calls, rounds) = (server.calls(), renewed().div_ceil(1000));
        assert!(calls.len() <= rounds * (1000_usize.div_ceil(128) + 1));
        assert!(calls.iter().all(|call| call.leases.len() <= 128));
        assert!(most_tasks <= tasks_before + 20, "{most_tasks} tasks");
        let mut first: Vec<_> = calls[..8].iter().flat_map(|c| &c.leases).collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 1000, "each is renewed once in a round");
        assert!(leases.iter().all(|lease| lease.lost().get().is_none()));
        assert_eq!(keeper.len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn answers_for_other_leases_than_asked_say_nothing() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([Answer::TooFew, RENEWED]);
        let leases = ["a", "b"].map(|name| keeper.keep(terms(name, ms(600))));
        let before = leases.each_ref().map(end);
        server.renewals.reached(2).await;
        let [first, second] = [&server.calls()[0], &server.calls()[1]];
        assert_eq!(first.leases.len(), 2);
        assert_eq!(second.leases.len(), 2, "both are asked for again");
        let pause = second.at.saturating_duration_since(first.at);
        assert!(pause < ms(600) / 12 + LATE, "and soon: {pause:?}");
        extended(&leases[1], before[1]).await;
        assert!(leases.iter().all(|lease| lease.lost().get().is_none()));
    })
    .await;
}

#[tokio::test]
async fn a_short_lease_does_not_wait_for_a_long_one() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let long = keeper.keep(terms("long", ms(60_000)));
        // Only now does the keeper sleep until the long one is due.
        keeper::spawn(async {}).await.unwrap();
        let short = keeper.keep(terms("short", ms(300)));
        server.renewals.reached(3).await;
        let late = end(&short).has_passed();
        assert!(!late && short.lost().get().is_none());
        let names = server.calls().into_iter().flat_map(|call| call.leases);
        assert!(names.into_iter().all(|name| name == "short"));
        drop(long);
    })
    .await;
}

#[tokio::test]
async fn a_released_lease_is_not_renewed_again() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(terms("a", ms(150)));
        let lost = lease.lost();
        server.renewals.reached(1).await;
        lease.release().await.unwrap();
        assert_eq!(server.surrenders.get(), 1);
        assert!(keeper.is_empty());
        let calls = server.calls().len();
        // Two rounds of another lease: those of the first would have been among them.
        let other = keeper.keep(terms("b", ms(150)));
        server.renewals.reached(calls + 2).await;
        let later = server.calls().split_off(calls);
        assert!(later.iter().all(|call| call.leases == ["b"]));
        assert_eq!(lost.get(), None, "nor is what was given back lost");
        drop(other);
    })
    .await;
}

#[tokio::test]
async fn a_lease_released_during_its_renewal_stays_released() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([Answer::Late(ms(30), Renewal::Renewed), RENEWED]);
        let lease = keeper.keep(terms("a", ms(300)));
        let lost = lease.lost();
        server.renewals.reached(1).await;
        lease.release().await.unwrap();
        let other = keeper.keep(terms("b", ms(200)));
        server.renewals.reached(4).await;
        let later = &server.calls()[1..];
        assert!(later.iter().all(|call| call.leases == ["b"]));
        assert_eq!(lost.get(), None);
        assert_eq!(keeper.len(), 1);
        drop(other);
    })
    .await;
}

#[tokio::test]
async fn a_lost_lease_is_released_successfully() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([Answer::Each(Renewal::Gone)]);
        let lease = keeper.keep(terms("a", ms(150)));
        assert_eq!(lease.lost().await, Loss::Taken);
        lease.release().await.unwrap();
        assert_eq!(server.surrenders.get(), 1, "the server may still have it");
    })
    .await;
}

#[tokio::test]
async fn a_release_that_is_never_answered_ends_with_the_lease() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(terms("a", ms(300)));
        let until = end(&lease);
        server.surrender.close();
        let error = lease.release().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(until.has_passed(), "it was waited for until then");
        assert!(until.elapsed() <= ms(300) / 25 + ms(10) + LATE);
        assert_eq!(server.surrender.arrived(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_ran_out_is_released_successfully_whatever_the_server_says() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([Answer::Fail]);
        let lease = keeper.keep(terms("a", ms(150)));
        assert_eq!(lease.lost().await, Loss::Expired);
        server.surrender.close();
        lease.release().await.unwrap();
        assert_eq!(
            server.surrender.arrived(),
            1,
            "the server may still have it"
        );
    })
    .await;
}

#[tokio::test]
async fn a_lease_outlives_the_handle_of_its_keeper() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let lease = keeper.keep(terms("a", ms(200)));
        drop(keeper);
        server.renewals.reached(6).await;
        assert_eq!(lease.lost().get(), None);
        assert!(!end(&lease).has_passed());
    })
    .await;
}

#[tokio::test]
async fn a_keeper_ends_when_it_is_dropped_and_has_nothing_left_to_keep() {
    alone(ms(15_000), async {
        // What other tests left may still end meanwhile, so there are many keepers, and no more
        // tasks afterwards than before.
        let before = keeper::tasks();
        let empty: Vec<_> = (0..50).map(|_| keeping([RENEWED])).collect();
        assert!(keeper::tasks() >= 50, "each has its task");
        drop(empty);
        eventually("the empty ones have ended", || keeper::tasks() <= before).await;

        let before = keeper::tasks();
        let keepers: Vec<_> = (0..50).map(|_| keeping([RENEWED])).collect();
        let keep = |(_, keeper): &(_, LeaseKeeper<Leases>)| keeper.keep(terms("a", ms(400)));
        let leases: Vec<_> = keepers.iter().map(keep).collect();
        let servers: Vec<_> = keepers.into_iter().map(|(server, _)| server).collect();
        for server in &servers {
            server.renewals.reached(1).await;
        }
        assert!(keeper::tasks() >= 50, "they have something to keep");
        for lease in leases {
            lease.release().await.unwrap();
        }
        eventually("the others have ended", || keeper::tasks() <= before).await;
    })
    .await;
}

#[tokio::test]
async fn an_upgraded_lease_has_the_writers_token() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let mut lease = keeper.keep(terms("a", ms(600)));
        assert_eq!(lease.token(), Token::from_server(1));
        assert!(lease.upgrade(Deadline::Now).await.unwrap());
        assert_eq!(lease.token(), Token::from_server(7));
        lease.release().await.unwrap();
        assert_eq!(server.writers(), ["up", "end"]);
    })
    .await;
}

#[tokio::test]
async fn an_abandoned_upgrade_of_a_lease_is_taken_back_before_the_next_begins() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let mut lease = keeper.keep(terms("a", ms(600)));
        server.upgrade.close();
        let mut upgrade = Box::pin(lease.upgrade(Deadline::Never));
        assert!(poll_once(&mut upgrade).is_pending());
        assert_eq!(server.writers(), ["up"], "granted, and not told");
        drop(upgrade);
        assert_eq!(lease.token(), Token::from_server(1));
        server.upgrade.open();
        assert!(lease.upgrade(Deadline::Never).await.unwrap());
        assert_eq!(server.writers(), ["up", "down", "up"]);
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_abandoned_on_its_way_is_not_overtaken_by_its_taking_back() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let mut lease = keeper.keep(terms("a", ms(600)));
        server.upgrade_sent.close();
        let mut upgrade = Box::pin(lease.upgrade(Deadline::Never));
        assert!(poll_once(&mut upgrade).is_pending());
        drop(upgrade);
        server.upgrade_sent.open();
        lease.release().await.unwrap();
        assert_eq!(server.writers(), ["up", "down", "end"]);
    })
    .await;
}

#[tokio::test]
async fn a_lease_with_an_abandoned_upgrade_is_surrendered_after_that_was_taken_back() {
    beside(ms(5000), async {
        let (server, keeper) = keeping([RENEWED]);
        let mut lease = keeper.keep(terms("a", ms(600)));
        server.upgrade.close();
        let mut upgrade = Box::pin(lease.upgrade(Deadline::Never));
        assert!(poll_once(&mut upgrade).is_pending());
        drop(upgrade);
        let mut release = Box::pin(lease.release());
        assert!(poll_once(&mut release).is_pending());
        server.upgrade.open();
        release.await.unwrap();
        assert_eq!(server.writers(), ["up", "down", "end"]);
    })
    .await;
}
