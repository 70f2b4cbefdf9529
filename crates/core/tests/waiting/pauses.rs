//! How long it is from one try to the next.

use crate::{
    Server,
    common::{ms, mutex_id, within},
};
use lockwork_core::lock::{
    Deadline,
    backend::{Hints, Pace},
};
use std::time::Duration;

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
