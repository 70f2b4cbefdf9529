//! Instances: claimed before they are read, changed by whoever holds the last claim.

use super::{
    SqliteStore,
    commit::{self, commit},
    create::{self, Created, create, name},
    errands::HeldRow,
    import::import,
    sql::{change, get, int, number, row, rows, sql},
};
use crate::json;
use lockwork_core::workflow::{Answer, InstanceId, Result, Time};
use lockwork_flow::{Entry, STATE_FORMAT, State, Task};
use lockwork_runtime::store::{
    Claim, Claimed, Commit, Committed, Creation, Filter, InstanceStore, NewInstance, Position,
    Record,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use std::sync::Arc;

/// What is known of an instance, as it was written. One that a newer version has written is refused.
fn read_state(instance: &InstanceId, text: &str) -> Result<Arc<State>> {
    match serde_json::from_str::<State>(text) {
        Ok(state) if state.format <= STATE_FORMAT => Ok(Arc::new(state)),
        _ => {
            let value = json::read("lockwork_instances", instance, text)?;
            let state = State::from_value(value).map_err(|error| {
                error
                    .with("table", "lockwork_instances")
                    .with("id", instance)
            })?;
            Ok(Arc::new(state))
        }
    }
}

struct ClaimedRow {
    epoch: u64,
    version: u64,
    cancel: bool,
    committed_by: Option<String>,
    state: String,
}

async fn claim(
    connection: &mut SqliteConnection,
    instance: String,
    id: String,
) -> Result<Option<ClaimedRow>> {
    let statement = sql(
        "UPDATE lockwork_instances SET epoch = epoch + 1, claim = $2 WHERE id = $1 \
         RETURNING epoch, version, cancel, committed_by, state",
    );
    let row = row(connection, statement.bind(instance).bind(id)).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(ClaimedRow {
        epoch: number(&row, "epoch")?,
        version: number(&row, "version")?,
        cancel: get(&row, "cancel")?,
        committed_by: get(&row, "committed_by")?,
        state: get(&row, "state")?,
    }))
}

fn record(row: &SqliteRow) -> Result<Record> {
    let instance = InstanceId::new(get(row, "id")?)?;
    Ok(Record {
        state: read_state(&instance, get(row, "state")?)?,
        version: number(row, "version")?,
        epoch: number(row, "epoch")?,
        position: Position::new(number(row, "ord")?),
    })
}

async fn listed(connection: &mut SqliteConnection, filter: Filter) -> Result<Vec<Record>> {
    let mut text = vec!["SELECT id, state, version, epoch, ord FROM lockwork_instances WHERE true"];
    if filter.definition.is_some() {
        text.push(" AND version_id IN (SELECT id FROM lockwork_versions WHERE definition_id = $1)");
    }
    if filter.sub_status.is_some() {
        text.push(" AND sub_status = $2");
    }
    if filter.correlation.is_some() {
        text.push(" AND correlation = $3");
    }
    if filter.over.is_some() {
        text.push(" AND running <> $5");
    }
    if filter.after.is_some() {
        text.push(" AND ord < $6");
    }
    text.push(" ORDER BY ord DESC LIMIT $4");
    let statement = super::sql::parts(&text)
        .bind(filter.definition.map(|id| id.to_string()))
        .bind(filter.sub_status.map(name))
        .bind(filter.correlation)
        .bind(filter.limit.map_or(-1, int))
        .bind(filter.over)
        .bind(filter.after.map(|after| int(after.number())));
    let rows = rows(connection, statement).await?;
    rows.iter().map(record).collect()
}

/// Whether it is over already, if there is one.
async fn request_cancel(
    connection: &mut SqliteConnection,
    instance: String,
) -> Result<Option<bool>> {
    let statement = sql(
        "UPDATE lockwork_instances SET cancel = cancel OR running WHERE id = $1 RETURNING NOT running AS over",
    );
    if let Some(row) = row(connection, statement.bind(instance.clone())).await? {
        return get(&row, "over").map(Some);
    }
    // One that was only asked for ends as soon as it exists.
    let statement = sql(
        "UPDATE lockwork_errands SET cancelled = 1 WHERE instance = $1 AND kind -> 'start' IS NOT NULL",
    );
    change(connection, statement.bind(instance)).await?;
    Ok(None)
}

async fn delete(connection: &mut SqliteConnection, instance: String) -> Result<bool> {
    let statement = sql("DELETE FROM lockwork_instances WHERE id = $1");
    let deleted = change(connection, statement.bind(instance)).await?;
    Ok(deleted > 0)
}

async fn forget(connection: &mut SqliteConnection, before: Time, limit: usize) -> Result<usize> {
    let statement = sql(
        "DELETE FROM lockwork_instances WHERE ord IN (SELECT ord FROM lockwork_instances \
         WHERE finished < $1 AND finished IS NOT NULL AND NOT running ORDER BY finished, ord LIMIT $2)",
    );
    let statement = statement.bind(before.as_millis()).bind(int(limit));
    let forgotten = change(connection, statement).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}

impl InstanceStore for SqliteStore {
    fn create(&self, new: NewInstance) -> Answer<'_, Creation> {
        Box::pin(async move {
            let new = create::Written::new(new)?;
            let created = self.write(move |connection| Box::pin(create(connection, new)));
            Ok(match created.await? {
                Created::Not(refusal) => refusal,
                Created::New(errand) => {
                    let held = errand.map(HeldRow::held).transpose()?;
                    Creation::New(held.map(Box::new))
                }
            })
        })
    }

    fn claim<'a>(&'a self, instance: &'a InstanceId, id: &'a str) -> Answer<'a, Option<Claimed>> {
        Box::pin(async move {
            let (of, by) = (instance.to_string(), id.to_owned());
            let row = self.hold(move |connection| Box::pin(claim(connection, of, by)));
            let Some(row) = row.await? else {
                return Ok(None);
            };
            Ok(Some(Claimed {
                claim: Claim {
                    instance: instance.clone(),
                    epoch: row.epoch,
                    id: id.to_owned(),
                    version: row.version,
                },
                state: read_state(instance, &row.state)?,
                cancel: row.cancel,
                committed_by: row.committed_by,
            }))
        })
    }

    fn commit(&self, new: Commit) -> Answer<'_, Committed> {
        Box::pin(async move {
            let new = commit::Written::new(new)?;
            let committed = self.write(move |connection| Box::pin(commit(connection, new)));
            let (committed, next) = committed.await?;
            let continues = next.map(HeldRow::held).transpose()?;
            Ok(Committed {
                continues,
                ..committed
            })
        })
    }

    fn load<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<Record>> {
        Box::pin(async move {
            let statement =
                sql("SELECT id, state, version, epoch, ord FROM lockwork_instances WHERE id = $1");
            let statement = statement.bind(instance.to_string());
            let row = row(&mut *self.reader().await?, statement).await?;
            row.as_ref().map(record).transpose()
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Record>> {
        Box::pin(async move { listed(&mut *self.reader().await?, filter).await })
    }

    fn journal<'a>(&'a self, instance: &'a InstanceId, from: u64) -> Answer<'a, Vec<Entry>> {
        Box::pin(async move {
            let statement = sql(
                "SELECT entry FROM lockwork_journal WHERE instance = $1 AND sequence >= $2 ORDER BY sequence",
            );
            let statement = statement.bind(instance.to_string()).bind(int(from));
            let rows = rows(&mut *self.reader().await?, statement).await?;
            let entries = rows.iter();
            entries
                .map(|row| json::read("lockwork_journal", instance, get(row, "entry")?))
                .collect()
        })
    }

    fn request_cancel<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<bool>> {
        let instance = instance.to_string();
        Box::pin(self.write(move |connection| Box::pin(request_cancel(connection, instance))))
    }

    fn delete<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, bool> {
        let instance = instance.to_string();
        Box::pin(self.write(move |connection| Box::pin(delete(connection, instance))))
    }

    fn forget(&self, before: Time, limit: usize) -> Answer<'_, usize> {
        Box::pin(self.write(move |connection| Box::pin(forget(connection, before, limit))))
    }

    fn import(&self, state: State, activation: Option<String>) -> Answer<'_, ()> {
        Box::pin(self.write(move |connection| Box::pin(import(connection, state, activation))))
    }

    fn tasks(&self) -> Answer<'_, Vec<Task>> {
        Box::pin(async move {
            let statement = sql("SELECT bookmark, task FROM lockwork_tasks ORDER BY bookmark");
            let rows = rows(&mut *self.reader().await?, statement).await?;
            let tasks = rows.iter();
            tasks
                .map(|row| {
                    let bookmark: String = get(row, "bookmark")?;
                    json::read("lockwork_tasks", &bookmark, get(row, "task")?)
                })
                .collect()
        })
    }
}
