//! Definitions, and what starts instances of them.

use super::{
    PostgresStore,
    errors::Trouble,
    pool::Operation,
    rows::damaged,
    statements::{Statements, ask_as},
    text::{bytes, hash, millis},
};
use crate::json;
use lockwork_core::workflow::{
    Answer, DefinitionHandle, DefinitionId, ErrorKind, NodeId, Result, Time, VersionId,
    VersionSelect,
};
use lockwork_flow::Definition;
use lockwork_runtime::store::{DefinitionStore, NewVersion, TriggerRow, VersionRow};
use sqlx::PgConnection;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// So many are kept in memory.
const KEPT: usize = 256;

/// Definitions that were read. A version never changes, so whoever has read it once has read it.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<VersionId, Arc<Definition>>>);

impl Cache {
    fn get(&self, id: &VersionId) -> Option<Arc<Definition>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(id).cloned()
    }

    fn keep(&self, id: &VersionId, definition: &Arc<Definition>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            // Which one does not matter much: whoever needs it again reads it again.
            let any = kept.keys().next().cloned();
            any.and_then(|any| kept.remove(&any));
        }
        kept.insert(id.clone(), Arc::clone(definition));
    }
}

/// A version without what is in it.
type Row = (String, i32, bool, i64);

/// A version with it.
type Full = (String, i32, bool, i64, String);

fn version(cache: &Cache, (id, number, published, created, body): Full) -> Result<VersionRow> {
    let id = VersionId::new(&id)?;
    let definition = match cache.get(&id) {
        Some(definition) => definition,
        None => {
            let definition = Arc::new(read(&id, &body)?);
            cache.keep(&id, &definition);
            definition
        }
    };
    Ok(VersionRow {
        id,
        number: u32::try_from(number).unwrap_or_default(),
        published,
        definition,
        created: Time::from_millis(created),
    })
}

/// One that a newer version has written is not damaged.
fn read(id: &VersionId, body: &str) -> Result<Definition> {
    Definition::from_json(body).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => error.with("version", id),
        _ => damaged("definition", id.as_str()).because(error),
    })
}

/// Triggers, column by column.
#[derive(Debug, Default)]
struct Triggers {
    nodes: Vec<String>,
    hashes: Vec<Vec<u8>>,
    schedules: Vec<Option<String>>,
    next: Vec<Option<i64>>,
}

impl Triggers {
    fn of(rows: &[TriggerRow]) -> Result<Self> {
        let mut triggers = Self::default();
        for row in rows {
            let schedule = row.schedule.as_ref().map(json::write).transpose()?;
            triggers.nodes.push(row.node.as_str().to_owned());
            triggers.hashes.push(bytes(&row.hash));
            triggers.schedules.push(schedule);
            triggers.next.push(row.next.map(millis));
        }
        Ok(triggers)
    }
}

/// Adds a version. What the last one is, is read first, and has to be so still.
struct Putting {
    new: NewVersion,
    triggers: Triggers,
    cache: Arc<Cache>,
}

impl Operation for Putting {
    type Out = VersionRow;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<VersionRow, Trouble> {
        let new = &self.new;
        let definition = &new.definition.id;
        let last = ask_as::<Full>(&sql.last_version).bind(definition.as_str());
        let last = last.fetch_optional(&mut *at).await?;
        let last = last.map(|row| version(&self.cache, row)).transpose()?;
        let number = last.as_ref().map_or(0, |row| row.number);
        let same = last.filter(|row| *row.definition == new.definition);
        let body = match &same {
            Some(_) => None,
            None => Some(json::write(&new.definition)?),
        };
        let mut row = match same {
            Some(row) => row,
            None => VersionRow {
                id: VersionId::new(&format!("{definition}:{}", number + 1))?,
                number: number + 1,
                published: false,
                definition: Arc::new(new.definition.clone()),
                created: new.now,
            },
        };
        let put = ask_as::<(bool,)>(&sql.put)
            .bind(definition.as_str())
            .bind(i32::try_from(number).unwrap_or(i32::MAX))
            .bind(row.id.as_str())
            .bind(i32::try_from(row.number).unwrap_or(i32::MAX))
            .bind(body)
            .bind(millis(new.now))
            .bind(new.publish)
            .bind(&self.triggers.nodes)
            .bind(&self.triggers.hashes)
            .bind(&self.triggers.schedules)
            .bind(&self.triggers.next);
        row.published = put.fetch_one(at).await?.0;
        self.cache.keep(&row.id, &row.definition);
        Ok(row)
    }
}

/// Finds a version. What is in it is read once; which one counts is asked each time.
struct Resolving {
    handle: DefinitionHandle,
    cache: Arc<Cache>,
}

impl Operation for Resolving {
    type Out = Option<VersionRow>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let found = match &self.handle {
            DefinitionHandle::Version(id) => ask_as::<Row>(&sql.version).bind(id.as_str()),
            DefinitionHandle::Of { definition, select } => {
                let (select, number) = selected(*select);
                let selected = ask_as::<Row>(&sql.selected).bind(definition.as_str());
                selected.bind(select).bind(number)
            }
        };
        let Some((id, number, published, created)) = found.fetch_optional(&mut *at).await? else {
            return Ok(None);
        };
        let body = match self.cache.get(&VersionId::new(&id)?) {
            Some(_) => String::new(),
            None => {
                let body = ask_as::<(String,)>(&sql.body).bind(&id);
                body.fetch_one(at).await?.0
            }
        };
        let row = version(&self.cache, (id, number, published, created, body))?;
        let is_draft = matches!(
            self.handle,
            DefinitionHandle::Of {
                select: VersionSelect::Draft,
                ..
            }
        );
        Ok(Some(row).filter(|row| !(is_draft && row.published)))
    }
}

/// As the statement has it.
fn selected(select: VersionSelect) -> (i16, Option<i32>) {
    match select {
        VersionSelect::Published => (0, None),
        VersionSelect::Latest => (1, None),
        VersionSelect::Draft => (2, None),
        VersionSelect::PublishedOrLatest => (3, None),
        VersionSelect::Number(number) => (4, i32::try_from(number).ok()),
    }
}

struct Listing {
    definition: Option<DefinitionId>,
    cache: Arc<Cache>,
}

impl Operation for Listing {
    type Out = Vec<VersionRow>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let versions = ask_as::<Full>(&sql.versions);
        let versions = versions.bind(self.definition.as_ref().map(|id| id.as_str()));
        let rows = versions.fetch_all(at).await?.into_iter();
        let rows = rows.map(|row| version(&self.cache, row));
        Ok(rows.collect::<Result<_>>()?)
    }
}

struct Retracting(DefinitionId);

impl Operation for Retracting {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let retract = ask_as::<(bool,)>(&sql.retract).bind(self.0.as_str());
        Ok(retract.fetch_one(at).await?.0)
    }
}

struct Indexing(VersionId, Triggers);

impl Operation for Indexing {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let Self(id, triggers) = self;
        let index = ask_as::<(i32,)>(&sql.index)
            .bind(id.as_str())
            .bind(&triggers.nodes)
            .bind(&triggers.hashes)
            .bind(&triggers.schedules)
            .bind(&triggers.next);
        let (changed,) = index.fetch_one(at).await?;
        Ok(usize::try_from(changed).unwrap_or_default())
    }
}

struct Starting(DefinitionId);

type Start = (String, Vec<u8>, Option<String>, Option<i64>);

impl Operation for Starting {
    type Out = Vec<TriggerRow>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let Self(id) = self;
        let triggers = ask_as::<Start>(&sql.triggers).bind(id.as_str());
        let rows = triggers.fetch_all(at).await?.into_iter();
        Ok(rows.map(|row| trigger(id, row)).collect::<Result<_>>()?)
    }
}

fn trigger(id: &DefinitionId, (node, of, schedule, next): Start) -> Result<TriggerRow> {
    let schedule = schedule.map(|text| json::read("trigger", id, &text));
    Ok(TriggerRow {
        node: NodeId::new(&node)?,
        hash: hash(&of)?,
        schedule: schedule.transpose()?,
        next: next.map(Time::from_millis),
    })
}

impl DefinitionStore for PostgresStore {
    fn put(&self, new: NewVersion) -> Answer<'_, VersionRow> {
        let triggers = Triggers::of(&new.triggers);
        self.answer(triggers.map(|triggers| Putting {
            new,
            triggers,
            cache: Arc::clone(&self.definitions),
        }))
    }

    fn resolve<'a>(&'a self, handle: &'a DefinitionHandle) -> Answer<'a, Option<VersionRow>> {
        self.answer(Ok(Resolving {
            handle: handle.clone(),
            cache: Arc::clone(&self.definitions),
        }))
    }

    fn versions<'a>(&'a self, definition: Option<&'a DefinitionId>) -> Answer<'a, Vec<VersionRow>> {
        self.answer(Ok(Listing {
            definition: definition.cloned(),
            cache: Arc::clone(&self.definitions),
        }))
    }

    fn retract<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, bool> {
        self.answer(Ok(Retracting(definition.clone())))
    }

    fn index<'a>(&'a self, version: &'a VersionId, triggers: Vec<TriggerRow>) -> Answer<'a, usize> {
        let triggers = Triggers::of(&triggers);
        self.answer(triggers.map(|triggers| Indexing(version.clone(), triggers)))
    }

    fn triggers<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, Vec<TriggerRow>> {
        self.answer(Ok(Starting(definition.clone())))
    }
}
