//! Leases.

use crate::{KINDS, OWNER, Raw, SOON, becomes, limited, nothing_stays, request};
use lockwork::{Backend, Deadline, Hold, Locks, Loss};
use lockwork_conformance::standin::{LeaseBackend, Server};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test]
async fn a_lease_runs_out_by_the_clock_of_the_server_after_that_of_its_holder() {
    limited(async {
        let server = Server::start();
        let lease = Duration::from_millis(200);
        let holder = LeaseBackend::with_lease(server.addr(), lease);
        let mut once = request("lease", Deadline::Now);
        once.renew = false;
        let hold = holder.acquire(once).await.unwrap().unwrap();
        let other = LeaseBackend::new(server.addr());
        let next = other.acquire(request("lease", Deadline::Never)).await;
        assert!(next.unwrap().unwrap().token() > hold.token());
        assert!(hold.valid_until().unwrap().has_passed());
        assert_eq!(hold.lost().await, Loss::Expired);
    })
    .await;
}

#[tokio::test]
async fn a_renewed_lease_outlives_its_time_several_times() {
    limited(async {
        let server = Server::start();
        let lease = Duration::from_millis(500);
        let holder = Locks::new(LeaseBackend::with_lease(server.addr(), lease));
        let other = KINDS[0](&server);
        let guard = holder.mutex("kept").lock().await.unwrap();
        let waited = other.mutex("kept").try_lock_for(3 * lease).await.unwrap();
        assert!(waited.is_none());
        assert!(guard.is_valid());
        guard.release().await.unwrap();
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_try_is_idempotent_and_what_ran_out_is_not_renewed() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let ask = format!("try mutex:78 {OWNER} exclusive 400 once");
        assert_eq!(raw.says(&format!("1 {ask}")).await, "1 granted 1");
        assert_eq!(raw.says(&format!("2 {ask}")).await, "2 granted 1");
        let renew = format!("renew mutex:78/{OWNER} mutex:79/{OWNER}");
        assert_eq!(raw.says(&format!("3 {renew}")).await, "3 renewed 1 0");
        becomes("the lease has run out", SOON, || server.locks_now() == 0).await;
        assert_eq!(raw.says(&format!("4 {renew}")).await, "4 renewed 0 0");
        assert_eq!(raw.says(&format!("5 {ask}")).await, "5 granted 2");
    })
    .await;
}

#[tokio::test]
async fn a_try_that_comes_after_its_release_is_refused() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let release = raw.says(&format!("1 release mutex:78 {OWNER} 500")).await;
        assert_eq!(release, "1 ok");
        let ask = format!("try mutex:78 {OWNER} exclusive 100 wait");
        assert_eq!(raw.says(&format!("2 {ask}")).await, "2 refused");
        assert_eq!((server.locks_now(), server.waiters_now()), (0, 0));
        let again = format!("3 {ask}");
        while raw.says(&again).await == "3 refused" {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(server.locks_now(), 1);
    })
    .await;
}
