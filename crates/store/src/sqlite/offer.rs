//! Bookmarks are given to the oldest stimulus that waits for them, or their time comes.

use super::{
    errands::{NewErrand, insert_errands},
    sql::{change, get, list, row, rows, sql},
};
use crate::json;
use lockwork_core::workflow::{BookmarkId, InstanceId, Result, Time};
use lockwork_runtime::store::{WaitingStimulus, derived};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

/// Sets the timers of the bookmarks in a list that nothing else will resume and for which no stimulus can wait; for those
/// for which one may, looks for the oldest: one that is for this instance, and one that is for any.
macro_rules! offer_all {
    ($list:literal) => {
        concat!(
            "UPDATE lockwork_bookmarks SET timer = due WHERE id IN (SELECT value FROM json_each(",
            $list,
            ")) AND due IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM lockwork_errands WHERE promise = lockwork_bookmarks.id) \
             AND NOT EXISTS (SELECT 1 FROM lockwork_waiting WHERE hash = lockwork_bookmarks.hash); \
             SELECT b.id, b.instance, \
             (SELECT w.ord FROM lockwork_waiting AS w WHERE w.hash = b.hash AND w.instance = b.instance \
              AND (w.correlation IS NULL OR w.correlation = i.correlation) \
              AND (w.execution IS NULL OR w.execution = b.execution) \
              AND (w.bookmark IS NULL OR w.bookmark = b.id) ORDER BY w.ord LIMIT 1) AS own, \
             (SELECT w.ord FROM lockwork_waiting AS w WHERE w.hash = b.hash AND w.instance IS NULL \
              AND (w.correlation IS NULL OR w.correlation = i.correlation) \
              AND (w.execution IS NULL OR w.execution = b.execution) \
              AND (w.bookmark IS NULL OR w.bookmark = b.id) ORDER BY w.ord LIMIT 1) AS anybody \
             FROM json_each(",
            $list,
            ") AS offered JOIN lockwork_bookmarks AS b ON b.id = offered.value \
             JOIN lockwork_instances AS i ON i.id = b.instance \
             WHERE EXISTS (SELECT 1 FROM lockwork_waiting WHERE hash = b.hash) \
             AND NOT EXISTS (SELECT 1 FROM lockwork_errands WHERE promise = b.id) ORDER BY offered.key;"
        )
    };
}
pub(super) use offer_all;

/// How many columns tell of a stimulus that was found. (Errands have more.)
pub(super) const COLUMNS: usize = 4;

/// Offers bookmarks that are new, or that nothing else will resume any more.
pub(super) async fn offer(
    connection: &mut SqliteConnection,
    bookmarks: &[String],
    now: Time,
) -> Result<()> {
    let mut left = bookmarks;
    while !left.is_empty() {
        let statement = sql(offer_all!("$1")).bind(list(left)?);
        let found = rows(connection, statement).await?;
        let Some(first) = found.first() else {
            return Ok(());
        };
        // What one has got is not there for the next.
        let id = deliver(connection, first, now).await?;
        let at = left.iter().position(|one| *one == id);
        left = left
            .get(at.map_or(left.len(), |at| at + 1)..)
            .unwrap_or_default();
    }
    Ok(())
}

/// Goes on with bookmarks that were offered in other statements, if these have found something.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    found: bool,
    bookmarks: &[String],
    now: Time,
) -> Result<()> {
    match found {
        true => offer(connection, bookmarks, now).await,
        false => Ok(()),
    }
}

/// The oldest stimulus becomes an errand; if none is for the bookmark, its time comes. Says which bookmark it was.
async fn deliver(
    connection: &mut SqliteConnection,
    found: &SqliteRow,
    now: Time,
) -> Result<String> {
    let own: Option<i64> = get(found, "own")?;
    let anybody: Option<i64> = get(found, "anybody")?;
    let oldest = [own, anybody].into_iter().flatten().min();
    let (id, instance): (String, String) = (get(found, "id")?, get(found, "instance")?);
    let taken = sql("DELETE FROM lockwork_waiting WHERE ord = $1 RETURNING id, stimulus");
    let Some(taken) = row(connection, taken.bind(oldest)).await? else {
        let set =
            sql("UPDATE lockwork_bookmarks SET timer = due WHERE id = $1 AND due IS NOT NULL");
        change(connection, set.bind(id.clone())).await?;
        return Ok(id);
    };
    let waiting: WaitingStimulus = json::read(
        "lockwork_waiting",
        &get::<String>(&taken, "id")?,
        get(&taken, "stimulus")?,
    )?;
    let (instance, bookmark) = (InstanceId::new(&instance)?, BookmarkId::new(&id)?);
    let errand = derived::delivery(&waiting.id, &instance, &bookmark, waiting.stimulus, now);
    let statement = sql(insert_errands!("$1")).bind(list([NewErrand::free(errand)])?);
    change(connection, statement).await?;
    Ok(id)
}

/// The time of a bookmark does not come any more.
pub(super) async fn stop_timer(
    connection: &mut SqliteConnection,
    bookmark: &BookmarkId,
) -> Result<()> {
    let statement = sql("UPDATE lockwork_bookmarks SET timer = NULL WHERE id = $1");
    change(connection, statement.bind(bookmark.to_string()))
        .await
        .map(drop)
}
