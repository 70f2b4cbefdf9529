//! A database that cannot be written to.

use crate::{connect, database, refusal, run, works};
use lockwork::ErrorKind::Denied;

#[tokio::test]
async fn a_database_that_is_read_only_is_refused_until_it_is_not() {
    let url = database("frozen");
    run("master", ["ALTER DATABASE frozen SET READ_ONLY"]);
    for url in [url.clone(), format!("{url}&tokens=false")] {
        refusal::expect(&url, Denied, "connect to the primary").await;
    }
    run("master", ["ALTER DATABASE frozen SET READ_WRITE"]);
    works(&connect(&url).await).await;
}

#[tokio::test]
async fn a_database_that_becomes_read_only_says_so_to_the_next_who_asks() {
    let url = database("freezing");
    let locks = connect(&url).await;
    run("master", ["ALTER DATABASE freezing SET READ_ONLY"]);
    let error = crate::error_of(locks.mutex("a").try_lock()).await;
    refusal::is(&error, Denied, "connect to the primary");
    run("master", ["ALTER DATABASE freezing SET READ_WRITE"]);
    works(&locks).await;
}
