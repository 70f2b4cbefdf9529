//! The end of a lease, and of its keeper.

use crate::{
    LATE, RENEWED,
    common::{
        alone, beside, eventually,
        leases::{Answer, Leases, terms},
        ms,
    },
    end, keeping,
};
use lockwork_core::lock::{
    ErrorKind, Hold, Loss,
    backend::{
        keeper,
        lease::{LeaseKeeper, Renewal},
    },
};

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
        let (until, lost) = (end(&lease), lease.lost());
        server.surrender.close();
        let error = lease.release().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(until.has_passed(), "it was waited for until then");
        assert!(until.elapsed() <= ms(300) / 25 + ms(10) + LATE, "too late");
        assert_eq!(server.calls().len(), 0, "it is not renewed meanwhile");
        assert_eq!(lost.get(), None, "nor lost, as it was given back");
        assert!(keeper.is_empty());
        server.surrender.open();
        // The server may still have it.
        server.surrenders.reached(1).await;
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
        server.surrender.open();
        // The server may still have it.
        server.surrenders.reached(1).await;
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_ran_out_while_everything_stood_still_is_released_successfully() {
    alone(ms(5000), async {
        let (server, keeper) = keeping([Answer::Frozen(ms(0), ms(600))]);
        let lease = keeper.keep(terms("a", ms(150)));
        let (until, lost) = (end(&lease), lease.lost());
        server.renewals.reached(1).await;
        server.surrender.close();
        tokio::time::sleep(until.remaining() + ms(100)).await;
        assert_eq!(lost.get(), None, "nobody could be told");
        lease.release().await.unwrap();
        server.surrender.open();
        // The server may still have it.
        server.surrenders.reached(1).await;
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
