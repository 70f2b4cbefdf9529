//! A sequence whose numbers would not rise for everybody.

use crate::{database, refusal};
use lockwork::ErrorKind::Denied;
use lockwork_servers::postgres::sql;

/// What to do, as the error has it.
const ADVICE: &str =
    "ALTER SEQUENCE it AS bigint INCREMENT 1 MINVALUE 1 NO MAXVALUE CACHE 1 NO CYCLE";

#[tokio::test]
async fn a_sequence_that_does_not_count_for_everybody_is_refused_until_it_does() {
    let url = database("sequences");
    sql(&url, "CREATE SCHEMA lockwork").unwrap();
    for how in [
        "CACHE 20",
        "CYCLE",
        "INCREMENT -1",
        "MINVALUE -10 START -10",
        "AS integer",
    ] {
        sql(&url, &format!("CREATE SEQUENCE lockwork.token {how}")).unwrap();
        refusal::expect(&url, Denied, ADVICE).await;
        sql(&url, "DROP SEQUENCE lockwork.token").unwrap();
    }
    sql(&url, "CREATE SEQUENCE lockwork.token AS integer CACHE 20").unwrap();
    sql(&url, &ADVICE.replace("it", "lockwork.token")).unwrap();
    let locks = lockwork::connect(&url).await.unwrap();
    drop(locks.mutex("a").lock().await.unwrap());
}

#[tokio::test]
async fn a_table_in_the_place_of_the_sequence_is_refused() {
    let url = database("tables");
    sql(
        &url,
        "CREATE SCHEMA lockwork; CREATE TABLE lockwork.token ()",
    )
    .unwrap();
    refusal::expect(&url, Denied, "is no sequence").await;
}
