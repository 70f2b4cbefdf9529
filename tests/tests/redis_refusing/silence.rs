//! A network that swallows everything.

use crate::{asking, canary, connect, refusal, shared, url};
use lockwork::ErrorKind::Unavailable;
use lockwork_conformance::Proxy;

#[tokio::test]
async fn a_host_that_swallows_everything_is_given_up() {
    let proxy = Proxy::start(shared().port()).await.unwrap();
    proxy.blackhole();
    let plain = url(proxy.port(), "admin");
    let urls = ["redis", "rediss", "redis+cluster"]
        .map(|scheme| plain.replacen("redis", scheme, 1))
        .map(|url| async move {
            refusal::expect(&url, Unavailable, "whether TLS is on").await;
        });
    let [one, two, three] = urls;
    tokio::join!(one, two, three);
}

#[tokio::test]
async fn who_waits_for_a_lock_is_told_in_time_that_nothing_answers_any_more() {
    let proxy = Proxy::start(shared().port()).await.unwrap();
    let locks = connect(proxy.port()).await;
    let held = locks.mutex("silence").lock().await.unwrap();
    proxy.blackhole();
    let mutex = locks.mutex("unanswered");
    let error = asking::error_of(mutex.try_lock_for(asking::WAIT)).await;
    refusal::is(&error, Unavailable, "did not answer");
    proxy.heal();
    // It answers what it was asked, in its order.
    let limit = std::time::Duration::from_secs(5);
    let taken = tokio::time::timeout(limit, mutex.lock()).await;
    let taken = taken.expect("it answers again: not within 5 s");
    taken.unwrap().release().await.unwrap();
    drop(held);
    canary::is_not_in_the_log();
}
