//! Upgrades.

use crate::{
    RENEWED,
    common::{beside, leases::terms, ms, poll_once},
    keeping,
};
use lockwork_core::lock::{Deadline, Hold, Token};

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
