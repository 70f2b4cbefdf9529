//! Making an instance what is given.

use super::{
    commit::{bookmark_rows, insert_bookmarks, names},
    create::{Columns, other},
    offer::offer,
    sql::{change, get, list, row, sql},
};
use lockwork_core::workflow::Result;
use lockwork_flow::State;
use sqlx::SqliteConnection;

pub(super) async fn import(
    connection: &mut SqliteConnection,
    mut state: State,
    activation: Option<String>,
) -> Result<()> {
    let instance = state.instance.clone();
    if let Some(conflict) = other(connection, activation.clone(), &instance).await? {
        return Err(conflict);
    }
    // What happened stays in the journal, and the next entry comes after it.
    let last = sql("SELECT max(sequence) AS last FROM lockwork_journal WHERE instance = $1");
    if let Some(row) = row(connection, last.bind(instance.to_string())).await? {
        let last: Option<i64> = get(&row, "last")?;
        let entries = last.and_then(|last| u64::try_from(last).ok());
        state.entries = state.entries.max(entries.map_or(0, |last| last + 1));
    }
    let columns = Columns::new(&state)?;
    // What is done for a bookmark that comes back is still wanted.
    let statements = sql(concat!(
        "INSERT INTO lockwork_instances (id, version_id, sub_status, running, correlation, activation, \
         epoch, version, created, finished, state) VALUES ($1, $2, $3, $4, $5, $6, 1, 1, $7, $8, $9) \
         ON CONFLICT (id) DO UPDATE SET ord = (SELECT max(ord) + 1 FROM lockwork_instances), \
         version_id = excluded.version_id, sub_status = excluded.sub_status, running = excluded.running, \
         correlation = excluded.correlation, activation = excluded.activation, created = excluded.created, \
         finished = excluded.finished, state = excluded.state, epoch = epoch + 1, version = version + 1, \
         claim = '', committed_by = NULL, cancel = 0; \
         DELETE FROM lockwork_bookmarks WHERE instance = $1 AND id NOT IN (SELECT value FROM json_each($10)); ",
        insert_bookmarks!("$11")
    ));
    let bookmarks = names(state.waiting());
    let statements = statements
        .bind(instance.to_string())
        .bind(state.version.to_string())
        .bind(columns.sub_status)
        .bind(columns.running)
        .bind(columns.correlation)
        .bind(activation)
        .bind(state.created.as_millis())
        .bind(columns.finished)
        .bind(columns.state)
        .bind(list(&bookmarks)?)
        .bind(list(bookmark_rows(state.waiting()))?);
    change(connection, statements).await?;
    offer(connection, &bookmarks, state.created).await
}
