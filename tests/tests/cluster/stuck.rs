//! What whoever finds a run that is not over wants to know first: what is left, and who waits for what until when.

use lockwork::workflow::InstanceId;
use lockwork_servers::Postgres;
use sqlx::{Connection, PgConnection, Row, postgres::PgRow};

/// Numbers are as the store has them: see the tables of `lockwork-store`.
const LEFT: &str = "
    SELECT format('instance %s sub_status %s epoch %s version %s cancel %s', id, sub_status, epoch, version, cancel)
    FROM lockwork.instance WHERE id = ANY ($1)
    UNION ALL
    SELECT format('errand %s kind %s of %s attempts %s free in %s ms hold %s', id, kind, instance, attempts,
        free - floor(extract(epoch FROM now()) * 1000), hold)
    FROM lockwork.errand
    UNION ALL
    SELECT format('bookmark %s of %s timer in %s ms', id, instance, timer - floor(extract(epoch FROM now()) * 1000))
    FROM lockwork.bookmark";

/// Prints it.
pub(crate) async fn tell(store: &Postgres, rest: &[InstanceId]) {
    let rest: Vec<_> = rest.iter().map(|id| id.as_str().to_owned()).collect();
    let mut at = PgConnection::connect(&store.url()).await.unwrap();
    let found: Vec<PgRow> = sqlx::query(LEFT)
        .bind(rest)
        .fetch_all(&mut at)
        .await
        .unwrap();
    for row in found {
        println!("not over: {}", row.get::<String, _>(0));
    }
}
