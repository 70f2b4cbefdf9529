//! Instances: claimed before they are read, changed by whoever holds the last claim.

use super::{
    PostgresStore,
    commit::{Claiming, Committing, Holding, Known, Marks, consumed, number, state},
    errors::Trouble,
    pool::Operation,
    statements::{Statements, ask_as, column},
    text::{escaped, limit, millis, signed, some_key, unsigned},
    together::Together,
};
use crate::json;
use lockwork_core::workflow::{Answer, InstanceId, Result, Time};
use lockwork_flow::{Entry, State, Task};
use lockwork_runtime::store::{
    Claimed, Commit, Committed, Creation, Filter, InstanceStore, NewInstance, Position, Record,
};
use sqlx::PgConnection;
use std::collections::{HashMap, HashSet};

/// Creates an instance.
#[derive(Debug)]
pub(super) struct Creating {
    known: Known,
    activation: Option<String>,
    key: Option<String>,
    now: i64,
    errand: Option<Holding>,
    consumes: Option<(String, String)>,
    claim: Option<String>,
}

impl Creating {
    pub(super) fn new(new: NewInstance) -> Result<Self> {
        Ok(Self {
            known: Known::of(&new.state)?,
            activation: some_key(new.activation.as_deref())?,
            key: some_key(new.key.as_deref())?,
            now: millis(new.state.created),
            errand: new.errand.map(Holding::new).transpose()?,
            consumes: consumed(new.consumes.as_ref())?,
            claim: new.claim.as_deref().map(|id| escaped(id).into_owned()),
        })
    }
}

impl Operation for Creating {
    type Out = Creation;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Creation, Trouble> {
        let known = &self.known;
        let row = self.errand.as_ref().map(|holding| &holding.row);
        let create = ask_as::<(i16, Option<String>, Option<i32>)>(&sql.create)
            .bind(&known.instance)
            .bind(&known.of)
            .bind(known.sub_status)
            .bind(known.over)
            .bind(known.finished)
            .bind(&known.correlation)
            .bind(&self.activation)
            .bind(&self.key)
            .bind(&known.state)
            .bind(self.now)
            .bind(row.map(|row| &row.id))
            .bind(row.map(|row| row.kind))
            .bind(row.and_then(|row| row.instance.as_ref()))
            .bind(row.and_then(|row| row.bookmark.as_ref()))
            .bind(row.and_then(|row| row.body.as_ref()))
            .bind(row.and_then(|row| row.stimulus.as_ref()))
            .bind(row.map(|row| row.due))
            .bind(self.errand.as_ref().map(|holding| holding.until))
            .bind(self.errand.as_ref().map(|holding| &holding.hold))
            .bind(self.consumes.as_ref().map(|(id, _)| id))
            .bind(self.consumes.as_ref().map(|(_, hold)| hold))
            .bind(&self.claim);
        let (code, other, again) = create.fetch_one(at).await?;
        let other = other.map(|id| InstanceId::new(&id)).transpose()?;
        Ok(match (code, other) {
            (0, _) => {
                let held = self.errand.as_ref().map(|holding| holding.held(again));
                Creation::New(held.map(Box::new))
            }
            (2, Some(other)) => Creation::SameKey(other),
            (3, Some(other)) => Creation::Refused(other),
            _ => Creation::Exists,
        })
    }
}

impl Creating {
    /// Whether it can be created with others: nothing but its id can stand in its way.
    fn is_simple(&self) -> bool {
        self.activation.is_none()
            && self.key.is_none()
            && self.consumes.is_none()
            && !self.known.over
    }
}

type CreatedTogether = (Option<Vec<String>>, Option<Vec<String>>, Option<Vec<i32>>);

impl Together for Creating {
    fn instance(&self) -> &str {
        &self.known.instance
    }

    async fn run_all<'a>(
        all: &'a [Self],
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Vec<Creation>, Trouble> {
        let known = || all.iter().map(|one| &one.known);
        let held: Vec<_> = all
            .iter()
            .filter_map(|one| Some((&one.known.instance, one.errand.as_ref()?)))
            .collect();
        let rows = || held.iter().map(|(_, holding)| &holding.row);
        let creates = ask_as::<CreatedTogether>(&sql.creates)
            .bind(column(known().map(|known| &*known.instance)))
            .bind(column(known().map(|known| &*known.of)))
            .bind(column(known().map(|known| known.sub_status)))
            .bind(column(known().map(|known| known.correlation.as_deref())))
            .bind(column(known().map(|known| &*known.state)))
            .bind(column(all.iter().map(|one| one.claim.as_deref())))
            .bind(column(held.iter().map(|(instance, _)| instance.as_str())))
            .bind(column(rows().map(|row| &*row.id)))
            .bind(column(rows().map(|row| row.kind)))
            .bind(column(rows().map(|row| row.instance.as_deref())))
            .bind(column(rows().map(|row| row.bookmark.as_deref())))
            .bind(column(rows().map(|row| row.body.as_deref())))
            .bind(column(rows().map(|row| row.stimulus.as_deref())))
            .bind(column(rows().map(|row| row.due)))
            .bind(column(held.iter().map(|(_, holding)| holding.until)))
            .bind(column(held.iter().map(|(_, holding)| &*holding.hold)));
        let (made, holds, attempts) = creates.fetch_one(at).await?;
        let made: HashSet<_> = made.unwrap_or_default().into_iter().collect();
        let holds = holds.unwrap_or_default().into_iter();
        let again: HashMap<_, _> = holds.zip(attempts.unwrap_or_default()).collect();
        let created = all.iter().map(|one| {
            let held = one.errand.as_ref();
            let held = held.map(|holding| holding.held(again.get(&holding.hold).copied()));
            match made.contains(&one.known.instance) {
                true => Creation::New(held.map(Box::new)),
                false => Creation::Exists,
            }
        });
        Ok(created.collect())
    }
}

struct Loading(InstanceId);

impl Operation for Loading {
    type Out = Option<Record>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let load = ask_as::<RecordRow>(&sql.load).bind(self.0.as_str());
        let row = load.fetch_optional(at).await?;
        Ok(row.map(record).transpose()?)
    }
}

struct Reading(InstanceId, u64);

impl Operation for Reading {
    type Out = Vec<Entry>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let Self(id, from) = self;
        let journal = ask_as::<(String,)>(&sql.journal);
        let journal = journal.bind(id.as_str()).bind(signed(*from));
        Ok(entries(id.as_str(), *from, &journal.fetch_all(at).await?)?)
    }
}

struct Cancelling(InstanceId);

impl Operation for Cancelling {
    type Out = Option<bool>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let cancel = ask_as::<(Option<bool>,)>(&sql.cancel).bind(self.0.as_str());
        Ok(cancel.fetch_one(at).await?.0)
    }
}

struct Deleting(InstanceId);

impl Operation for Deleting {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let delete = ask_as::<(bool,)>(&sql.delete).bind(self.0.as_str());
        Ok(delete.fetch_one(at).await?.0)
    }
}

fn entries(id: &str, from: u64, rows: &[(String,)]) -> Result<Vec<Entry>> {
    let mut all = Vec::new();
    for (text,) in rows {
        let some: Vec<Entry> = json::read("journal", &id, text)?;
        all.extend(some.into_iter().filter(|entry| entry.sequence >= from));
    }
    Ok(all)
}

type RecordRow = (String, String, i64, i64, i64);

fn record((id, text, version, epoch, seq): RecordRow) -> Result<Record> {
    Ok(Record {
        state: state(&id, &text)?,
        version: unsigned(version),
        epoch: unsigned(epoch),
        position: Position::new(unsigned(seq)),
    })
}

struct Listing(Filter);

impl Operation for Listing {
    type Out = Vec<Record>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let Self(filter) = self;
        let after = filter.after.map_or(u64::MAX, Position::number);
        let list = ask_as::<RecordRow>(&sql.list)
            .bind(filter.definition.as_ref().map(|id| id.as_str()))
            .bind(filter.sub_status.map(number))
            .bind(some_key(filter.correlation.as_deref())?)
            .bind(filter.limit.map(limit))
            .bind(filter.over)
            .bind(signed(after));
        let rows = list.fetch_all(at).await?.into_iter();
        Ok(rows.map(record).collect::<Result<_>>()?)
    }
}

struct Forgetting(i64, i64);

impl Operation for Forgetting {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let forget = ask_as::<(i32,)>(&sql.forget).bind(self.0).bind(self.1);
        let (count,) = forget.fetch_one(at).await?;
        Ok(usize::try_from(count).unwrap_or_default())
    }
}

/// Makes an instance what is given. How many entries its journal has is asked first, and has to be so still.
struct Importing {
    state: State,
    activation: Option<String>,
}

impl Operation for Importing {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let entries = ask_as::<(i64,)>(&sql.entries).bind(self.state.instance.as_str());
        let (entries,) = entries.fetch_one(&mut *at).await?;
        let mut state = self.state.clone();
        // What happened stays in the journal, and the next entry comes after it.
        state.entries = state.entries.max(unsigned(entries));
        let known = Known::of(&state)?;
        let marks = Marks::of(state.waiting());
        let import = ask_as::<(bool,)>(&sql.import)
            .bind(&known.instance)
            .bind(&known.of)
            .bind(known.sub_status)
            .bind(known.over)
            .bind(known.finished)
            .bind(&known.correlation)
            .bind(&self.activation)
            .bind(&known.state)
            .bind(entries)
            .bind(millis(state.created))
            .bind(&marks.ids)
            .bind(&marks.hashes)
            .bind(&marks.executions)
            .bind(&marks.burns)
            .bind(&marks.dues);
        Ok(import.fetch_one(at).await?.0)
    }

    fn rings(rings: &bool) -> bool {
        *rings
    }
}

struct Tasks;

impl Operation for Tasks {
    type Out = Vec<Task>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let rows = ask_as::<(String, String)>(&sql.tasks).fetch_all(at).await?;
        let rows = rows.iter();
        let tasks = rows.map(|(bookmark, text)| json::read("task", bookmark, text));
        Ok(tasks.collect::<Result<_>>()?)
    }
}

impl InstanceStore for PostgresStore {
    fn create(&self, new: NewInstance) -> Answer<'_, Creation> {
        Box::pin(async move {
            let creating = Creating::new(new)?;
            match creating.is_simple() {
                true => self.creates.run(creating, &self.ways).await,
                false => self.answer(Ok(creating)).await,
            }
        })
    }

    fn claim<'a>(&'a self, instance: &'a InstanceId, id: &'a str) -> Answer<'a, Option<Claimed>> {
        let claiming = Claiming {
            instance: instance.clone(),
            id: id.to_owned(),
        };
        Box::pin(self.claims.run(claiming, &self.ways))
    }

    fn commit(&self, commit: Commit) -> Answer<'_, Committed> {
        Box::pin(async move {
            let committing = Committing::new(commit)?;
            let committed = match committing.is_simple() {
                true => self.commits.run(committing, &self.ways).await,
                false => self.answer(Ok(committing)).await,
            };
            Ok(committed?.0)
        })
    }

    fn load<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<Record>> {
        self.answer(Ok(Loading(instance.clone())))
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Record>> {
        self.answer(Ok(Listing(filter)))
    }

    fn journal<'a>(&'a self, instance: &'a InstanceId, from: u64) -> Answer<'a, Vec<Entry>> {
        self.answer(Ok(Reading(instance.clone(), from)))
    }

    fn request_cancel<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<bool>> {
        self.answer(Ok(Cancelling(instance.clone())))
    }

    fn delete<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, bool> {
        self.answer(Ok(Deleting(instance.clone())))
    }

    fn forget(&self, before: Time, most: usize) -> Answer<'_, usize> {
        self.answer(Ok(Forgetting(millis(before), limit(most))))
    }

    fn import(&self, state: State, activation: Option<String>) -> Answer<'_, ()> {
        let importing = some_key(activation.as_deref());
        let importing = importing.map(|activation| Importing { state, activation });
        Box::pin(async move { self.answer(importing).await.map(drop) })
    }

    fn tasks(&self) -> Answer<'_, Vec<Task>> {
        self.answer(Ok(Tasks))
    }
}
