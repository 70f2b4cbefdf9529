//! Many leases.

use crate::{
    LATE, RENEWED,
    common::{
        alone, beside, eventually,
        leases::{Answer, terms},
        ms,
    },
    end, extended, keeping,
};
use lockwork_core::lock::{Hold, backend::keeper};

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
        assert!(pause < ms(600) / 12 + LATE, "too late: {pause:?}");
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
