//! A server that follows another: its locks exclude nobody.

use crate::{canary, refusal, url};
use lockwork::ErrorKind::Denied;
use lockwork_servers::{Postgres, Settings};

#[tokio::test]
async fn a_standby_is_refused_until_it_is_the_primary() {
    let primary = Postgres::start(Settings::new()).unwrap();
    drop(
        lockwork::connect(&url(primary.port(), "lockwork", "postgres"))
            .await
            .unwrap(),
    );
    let standby = primary.standby().unwrap();
    let url = url(standby.port(), "lockwork", "postgres");
    for query in ["", "?tokens=false"] {
        let url = format!("{url}{query}");
        refusal::expect(&url, Denied, "connect to the primary").await;
    }
    primary.kill().unwrap();
    standby.sql("SELECT pg_promote()").unwrap();
    let locks = lockwork::connect(&url).await.unwrap();
    let guard = locks.mutex("a").lock().await.unwrap();
    assert!(guard.token().is_some());
    guard.release().await.unwrap();
    canary::is_not_in_the_log();
}
