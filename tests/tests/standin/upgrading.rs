//! Upgrades.

use crate::{KINDS, LASTING, limited, nothing_stays};
use lockwork_conformance::standin::Server;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn an_upgrade_waits_for_readers_and_keeps_new_ones_out() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server).rw_lock("rw"), kind(&server).rw_lock("rw"));
            let reader = two.read().await.unwrap();
            let mut guard = one.upgradeable_read().await.unwrap();
            assert!(!guard.try_upgrade().await.unwrap());
            let upgrading = tokio::spawn(async move {
                guard.upgrade().await.unwrap();
                guard
            });
            reader.release().await.unwrap();
            let guard = upgrading.await.unwrap();
            assert!(guard.token().is_some());
            assert!(two.try_read().await.unwrap().is_none());
            guard.release().await.unwrap();
            two.read().await.unwrap().release().await.unwrap();
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_reader_called_back_for_an_upgrade_comes_in_afterwards() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            let lock = kind(&server).rw_lock("rw");
            let mut guard = lock.upgradeable_read().await.unwrap();
            server.pause(true);
            let reading = tokio::spawn(async move { lock.read().await });
            // Its request is to be on its way when the upgrade calls it back. If this is too short
            // for that, the case is easier, not red.
            sleep(Duration::from_millis(50)).await;
            let upgrade = timeout(Duration::from_millis(50), guard.upgrade());
            assert!(upgrade.await.is_err());
            server.pause(false);
            guard.upgrade().await.unwrap();
            guard.release().await.unwrap();
            reading.await.unwrap().unwrap().release().await.unwrap();
            nothing_stays(&server).await;
        }
    })
    .await;
}
