//! When a lease is renewed, and for how long it is good.

use crate::{
    LATE, RENEWED,
    common::{
        alone, beside,
        leases::{Answer, terms},
        ms, within_thread,
    },
    end, extended, good_for, keeping,
};
use lockwork_core::lock::{
    Hold, Instant,
    backend::lease::{Renewal, Terms},
};

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
                "too late: with time for more tries: {after:?}"
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
