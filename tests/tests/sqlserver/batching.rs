//! What rides in one statement.

use crate::{
    SOON,
    place::{Place, connect},
    wait_for, within, works,
};

const NAMES: usize = 200;

#[tokio::test]
async fn two_hundred_locks_at_once_take_a_few_statements() {
    let place = Place::sql_server();
    let proxy = place.proxy().await;
    let here = connect(&place.url_through(&proxy, "tenure=0s&encrypt=none")).await;
    works(&here, "warm").await;
    let before = proxy.counts().tds_requests;
    let taking: Vec<_> = (0..NAMES)
        .map(|number| wait_for(&here, &number.to_string()))
        .collect();
    let mut held = Vec::new();
    for one in taking {
        held.push(within(SOON, "a lock", one).await.unwrap().0);
    }
    let taken = proxy.counts().tds_requests - before;
    assert_eq!(place.guest().await.held().await, 200);
    let releasing: Vec<_> = held
        .into_iter()
        .map(|guard| tokio::spawn(guard.release()))
        .collect();
    for one in releasing {
        within(SOON, "a release", one).await.unwrap().unwrap();
    }
    let released = proxy.counts().tds_requests - before - taken;
    println!("{NAMES} locks taken by {taken} statements and released by {released}");
    assert!((1..=6).contains(&taken), "{taken}");
    assert!((1..=6).contains(&released), "{released}");
}
