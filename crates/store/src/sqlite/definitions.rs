//! Definitions, and what starts instances of them.

use super::{
    SqliteStore,
    errands::add,
    sql::{change, get, int, list, number, row, rows, sql, time},
};
use crate::json;
use lockwork_core::workflow::{
    Answer, DefinitionHandle, DefinitionId, NodeId, Result, StimulusHash, Time, VersionId,
    VersionSelect,
};
use lockwork_flow::Definition;
use lockwork_runtime::store::{
    DefinitionStore, Errand, NewVersion, TriggerRow, VersionRow, derived,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How many definitions are remembered.
const REMEMBERED: usize = 256;

/// Definitions by version: what was read once is never read again, because it never changes.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<VersionId, Arc<Definition>>>);

impl Cache {
    fn get(&self, version: &VersionId) -> Option<Arc<Definition>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(version).cloned()
    }

    fn keep(&self, version: &VersionId, definition: &Arc<Definition>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            // Those in use are soon there again.
            known.clear();
        }
        known.insert(version.clone(), Arc::clone(definition));
    }
}

fn read_definition(version: &VersionId, text: &str) -> Result<Definition> {
    let value = json::read("lockwork_versions", version, text)?;
    Definition::from_value(value).map_err(|error| error.with("version", version))
}

fn version_row(row: &SqliteRow, definition: Arc<Definition>) -> Result<VersionRow> {
    Ok(VersionRow {
        id: VersionId::new(get(row, "id")?)?,
        number: number(row, "number")?.try_into().unwrap_or(u32::MAX),
        published: get(row, "published")?,
        created: time(row, "created")?,
        definition,
    })
}

fn whole_row(row: &SqliteRow) -> Result<VersionRow> {
    let id = VersionId::new(get(row, "id")?)?;
    let definition = read_definition(&id, get(row, "definition")?)?;
    version_row(row, Arc::new(definition))
}

async fn put(connection: &mut SqliteConnection, new: NewVersion) -> Result<VersionRow> {
    let id = new.definition.id.clone();
    let last = sql(
        "SELECT id, number, published, created, definition FROM lockwork_versions WHERE definition_id = $1 \
         ORDER BY number DESC LIMIT 1",
    );
    let last = row(connection, last.bind(id.to_string())).await?;
    let last = last.as_ref().map(whole_row).transpose()?;
    let mut version = match last {
        Some(last) if *last.definition == new.definition => last,
        last => {
            let number = last.map_or(1, |last| last.number + 1);
            insert(connection, new.definition, number, new.now).await?
        }
    };
    if new.publish {
        let statements = sql(
            "UPDATE lockwork_versions SET published = 0 WHERE definition_id = $1 AND published; \
             UPDATE lockwork_versions SET published = 1 WHERE id = $2",
        );
        let statements = statements.bind(id.to_string()).bind(version.id.to_string());
        change(connection, statements).await?;
        version.published = true;
        index(connection, &id, &version.id, new.triggers).await?;
    }
    Ok(version)
}

async fn insert(
    connection: &mut SqliteConnection,
    definition: Definition,
    number: u32,
    now: Time,
) -> Result<VersionRow> {
    let id = VersionId::new(&format!("{}:{number}", definition.id))?;
    let statement = sql(
        "INSERT INTO lockwork_versions (id, definition_id, number, published, created, definition) \
         VALUES ($1, $2, $3, 0, $4, $5)",
    );
    let statement = statement
        .bind(id.to_string())
        .bind(definition.id.to_string())
        .bind(i64::from(number))
        .bind(now.as_millis())
        .bind(json::write(&definition)?);
    change(connection, statement).await?;
    Ok(VersionRow {
        id,
        number,
        published: false,
        definition: Arc::new(definition),
        created: now,
    })
}

fn trigger_row(row: &SqliteRow) -> Result<TriggerRow> {
    let hash: String = get(row, "hash")?;
    let node: String = get(row, "node")?;
    let schedule: Option<String> = get(row, "schedule")?;
    let schedule = schedule.map(|text| json::read("lockwork_triggers", &node, &text));
    let next: Option<i64> = get(row, "next")?;
    Ok(TriggerRow {
        hash: hash.parse::<StimulusHash>()?,
        node: NodeId::new(&node)?,
        schedule: schedule.transpose()?,
        next: next.map(Time::from_millis),
    })
}

/// What starts instances of a workflow, and of which version.
async fn indexed(
    connection: &mut SqliteConnection,
    definition: &DefinitionId,
) -> Result<Vec<(VersionId, TriggerRow)>> {
    let statement = sql(
        "SELECT version_id, node, hash, schedule, next FROM lockwork_triggers WHERE definition_id = $1 ORDER BY place",
    );
    let rows = rows(connection, statement.bind(definition.to_string())).await?;
    let rows = rows.iter();
    rows.map(|row| Ok((VersionId::new(get(row, "version_id")?)?, trigger_row(row)?)))
        .collect()
}

/// One that was there keeps its next time. Says how many are new, gone, or of another version than before.
async fn index(
    connection: &mut SqliteConnection,
    definition: &DefinitionId,
    version: &VersionId,
    triggers: Vec<TriggerRow>,
) -> Result<usize> {
    let old = indexed(connection, definition).await?;
    let same = |one: &TriggerRow, other: &TriggerRow| {
        (&one.node, one.hash, &one.schedule) == (&other.node, other.hash, &other.schedule)
    };
    let gone = old
        .iter()
        .filter(|(_, old)| !triggers.iter().any(|new| same(old, new)));
    let mut changed = gone.count();
    let triggers =
        triggers
            .into_iter()
            .map(|new| match old.iter().find(|(_, old)| same(old, &new)) {
                Some((before, old)) => {
                    changed += usize::from(before != version);
                    old.clone()
                }
                None => {
                    changed += 1;
                    new
                }
            });
    let triggers: Vec<_> = triggers.collect();
    let triggers = triggers
        .iter()
        .map(|row| (&row.node, row.hash, &row.schedule, row.next));
    let statements = sql("DELETE FROM lockwork_triggers WHERE definition_id = $1; \
         INSERT INTO lockwork_triggers (definition_id, place, version_id, node, hash, schedule, next) \
         SELECT $1, key, $2, value ->> 0, value ->> 1, \
         CASE WHEN value ->> 2 IS NOT NULL THEN value -> 2 END, value ->> 3 FROM json_each($3)");
    let statements = statements
        .bind(definition.to_string())
        .bind(version.to_string())
        .bind(list(triggers)?);
    change(connection, statements).await?;
    Ok(changed)
}

async fn index_version(
    connection: &mut SqliteConnection,
    version: VersionId,
    triggers: Vec<TriggerRow>,
) -> Result<usize> {
    let statement = sql("SELECT definition_id FROM lockwork_versions WHERE id = $1 AND published");
    let Some(row) = row(connection, statement.bind(version.to_string())).await? else {
        return Ok(0);
    };
    let definition = DefinitionId::new(get(&row, "definition_id")?)?;
    index(connection, &definition, &version, triggers).await
}

async fn retract(connection: &mut SqliteConnection, definition: String) -> Result<bool> {
    let triggers = sql("DELETE FROM lockwork_triggers WHERE definition_id = $1");
    change(connection, triggers.bind(definition.clone())).await?;
    let published =
        sql("UPDATE lockwork_versions SET published = 0 WHERE definition_id = $1 AND published");
    Ok(change(connection, published.bind(definition)).await? > 0)
}

/// When a schedule comes again, and what is to be done now.
fn fired(row: &SqliteRow, now: Time) -> Result<(Option<Time>, Option<Errand>)> {
    let trigger = trigger_row(row)?;
    let (Some(at), Some(schedule)) = (trigger.next, &trigger.schedule) else {
        return Ok((None, None));
    };
    let definition = DefinitionId::new(get(row, "definition_id")?)?;
    let version = VersionId::new(get(row, "version_id")?)?;
    let next = derived::next_after(schedule, at, now);
    let errand = derived::scheduled(&definition, &version, &trigger, at);
    Ok((next, Some(errand)))
}

pub(super) async fn fire_schedules(
    connection: &mut SqliteConnection,
    now: Time,
    limit: usize,
) -> Result<usize> {
    let due = sql(
        "SELECT definition_id, place, version_id, node, hash, schedule, next FROM lockwork_triggers \
         WHERE next <= $1 AND next IS NOT NULL ORDER BY definition_id, place LIMIT $2",
    );
    let due = due.bind(now.as_millis()).bind(int(limit));
    let mut errands = Vec::new();
    for row in rows(connection, due).await? {
        // One that is damaged keeps nobody from the others, and does not come again.
        let fired = fired(&row, now).inspect_err(|error| {
            tracing::error!(%error, "a schedule cannot be read and does not start anything: publish its workflow again");
        });
        let (next, errand) = fired.unwrap_or_default();
        let moved =
            sql("UPDATE lockwork_triggers SET next = $3 WHERE definition_id = $1 AND place = $2");
        let moved = moved
            .bind(get::<String>(&row, "definition_id")?)
            .bind(get::<i64>(&row, "place")?)
            .bind(next.map(Time::as_millis));
        change(connection, moved).await?;
        errands.extend(errand);
    }
    let fired = errands.len();
    if fired > 0 {
        add(connection, errands).await?;
    }
    Ok(fired)
}

/// Which version is meant.
const fn which(select: VersionSelect) -> &'static str {
    match select {
        VersionSelect::Published => " AND published",
        VersionSelect::Latest => " ORDER BY number DESC LIMIT 1",
        VersionSelect::Draft => {
            " AND NOT published AND number = (SELECT max(number) FROM lockwork_versions WHERE definition_id = $1)"
        }
        VersionSelect::PublishedOrLatest => " ORDER BY published DESC, number DESC LIMIT 1",
        VersionSelect::Number(_) => " AND number = $2",
    }
}

async fn resolve(
    connection: &mut SqliteConnection,
    cache: &Cache,
    handle: &DefinitionHandle,
) -> Result<Option<VersionRow>> {
    const FROM: &str = "SELECT id, number, published, created FROM lockwork_versions WHERE ";
    let statement = match handle {
        DefinitionHandle::Version(id) => super::sql::parts(&[FROM, "id = $1"]).bind(id.to_string()),
        DefinitionHandle::Of { definition, select } => {
            let number = match select {
                VersionSelect::Number(number) => Some(i64::from(*number)),
                _ => None,
            };
            let text = [FROM, "definition_id = $1", which(*select)];
            super::sql::parts(&text)
                .bind(definition.to_string())
                .bind(number)
        }
    };
    let Some(found) = row(connection, statement).await? else {
        return Ok(None);
    };
    let id = VersionId::new(get(&found, "id")?)?;
    if let Some(definition) = cache.get(&id) {
        return version_row(&found, definition).map(Some);
    }
    let text = sql("SELECT definition FROM lockwork_versions WHERE id = $1");
    let Some(text) = row(connection, text.bind(id.to_string())).await? else {
        return Ok(None);
    };
    let definition = Arc::new(read_definition(&id, get(&text, "definition")?)?);
    cache.keep(&id, &definition);
    version_row(&found, definition).map(Some)
}

impl DefinitionStore for SqliteStore {
    fn put(&self, new: NewVersion) -> Answer<'_, VersionRow> {
        Box::pin(self.write(move |connection| Box::pin(put(connection, new))))
    }

    fn resolve<'a>(&'a self, handle: &'a DefinitionHandle) -> Answer<'a, Option<VersionRow>> {
        Box::pin(async move { resolve(&mut *self.reader().await?, &self.cache, handle).await })
    }

    fn versions<'a>(&'a self, definition: Option<&'a DefinitionId>) -> Answer<'a, Vec<VersionRow>> {
        Box::pin(async move {
            let statement = sql(
                "SELECT id, number, published, created, definition FROM lockwork_versions \
                 WHERE $1 IS NULL OR definition_id = $1 ORDER BY definition_id, number",
            );
            let statement = statement.bind(definition.map(ToString::to_string));
            let rows = rows(&mut *self.reader().await?, statement).await?;
            rows.iter().map(whole_row).collect()
        })
    }

    fn retract<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, bool> {
        let definition = definition.to_string();
        Box::pin(self.write(move |connection| Box::pin(retract(connection, definition))))
    }

    fn index<'a>(&'a self, version: &'a VersionId, triggers: Vec<TriggerRow>) -> Answer<'a, usize> {
        let version = version.clone();
        Box::pin(
            self.write(move |connection| Box::pin(index_version(connection, version, triggers))),
        )
    }

    fn triggers<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, Vec<TriggerRow>> {
        Box::pin(async move {
            let rows = indexed(&mut *self.reader().await?, definition).await?;
            Ok(rows.into_iter().map(|(_, row)| row).collect())
        })
    }
}
