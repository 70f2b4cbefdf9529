//! What loses a lease, and what does not.

use crate::{
    LATE, RENEWED,
    common::{
        alone, beside,
        leases::{Answer, terms},
        ms,
    },
    end, extended, good_for, keeping,
};
use lockwork_core::lock::{
    Hold, Instant, Loss,
    backend::lease::{Renewal, Terms},
};

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
        assert!(late <= LATE, "too late: nor long after: {late:?}");
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
        assert!(late <= LATE, "too late: promptly: {late:?}");
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
        assert!(late <= LATE, "too late: {late:?}");
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
