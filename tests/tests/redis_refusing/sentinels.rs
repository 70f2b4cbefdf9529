//! Sentinels that know no such primary, want a password, or are none.

use crate::{CANARY, canary, guarded, refusal, shared};
use lockwork::ErrorKind::{Denied, Invalid, Unavailable};
use lockwork_servers::{Redis, RedisSettings, Sentinel};

fn url(port: u16, name: &str) -> String {
    format!("redis+sentinel://admin:{CANARY}@127.0.0.1:{port}/{name}")
}

#[tokio::test]
async fn a_primary_that_no_sentinel_knows_is_named_as_such() {
    let primary = guarded(RedisSettings::new());
    let sentinel = Sentinel::start(&primary).unwrap();
    let unknown = url(sentinel.port(), "another");
    refusal::expect(&unknown, Unavailable, "check the name in the URL").await;
    canary::listen();
    let known = url(sentinel.port(), sentinel.name());
    let locks = lockwork::connect(&known).await.unwrap();
    let guard = locks.mutex("sentinel").lock().await.unwrap();
    guard.release().await.unwrap();
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn a_server_that_is_no_sentinel_is_named_as_such() {
    let server = Redis::start(RedisSettings::new()).unwrap();
    let url = url(server.port(), "name");
    refusal::expect(&url, Invalid, "this is no sentinel").await;
}

/// User and password of the URL are those for the primary.
#[tokio::test]
async fn a_sentinel_that_wants_a_password_is_denied() {
    let url = url(shared().port(), "name");
    refusal::expect(&url, Denied, "refused user or password").await;
}
