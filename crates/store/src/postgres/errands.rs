//! What has to be done.

use super::{
    PostgresStore,
    errors::Trouble,
    pool::Operation,
    rows::{Columns, Taken},
    statements::{Statements, ask, ask_as},
    text::{drawn, limit, millis, name},
};
use crate::json;
use lockwork_core::workflow::{Answer, Result, Time};
use lockwork_runtime::store::{Errand, ErrandStore, Held, Parts, Reason, Release, Rung};
use sqlx::PgConnection;
use std::borrow::Cow;

/// Adds errands.
pub(super) struct Adding(Columns);

impl Adding {
    pub(super) fn new(errands: &[Errand]) -> Result<Self> {
        Columns::of(errands).map(Self)
    }
}

impl Operation for Adding {
    type Out = ();

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<(), Trouble> {
        let Self(errands) = self;
        let add = ask(&sql.add)
            .bind(&errands.ids)
            .bind(&errands.kinds)
            .bind(&errands.instances)
            .bind(&errands.bookmarks)
            .bind(&errands.bodies)
            .bind(&errands.stimuli)
            .bind(&errands.dues);
        add.execute(at).await?;
        Ok(())
    }

    fn rings((): &()) -> bool {
        true
    }
}

struct Taking {
    of: i64,
    parts: Vec<i64>,
    now: i64,
    until: i64,
    limit: i64,
    hold: String,
}

impl Operation for Taking {
    type Out = Vec<Held>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let take = ask_as::<Taken>(&sql.take)
            .bind(self.now)
            .bind(self.until)
            .bind(self.limit)
            .bind(&self.hold)
            .bind(self.of)
            .bind(&self.parts);
        let rows = take.fetch_all(at).await?;
        Ok(readable(rows))
    }
}

/// One that cannot be read keeps nobody from the others: it stays where it is, and is told of each time.
fn readable(rows: Vec<Taken>) -> Vec<Held> {
    let held = rows.into_iter().filter_map(|row| match row.held() {
        Ok(held) => Some(held),
        Err(error) => {
            tracing::error!(%error, "an errand cannot be read, and is not done");
            None
        }
    });
    held.collect()
}

struct Renewing {
    ids: Vec<String>,
    holds: Vec<String>,
    until: i64,
}

impl Operation for Renewing {
    type Out = Vec<String>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let renew = ask_as::<(String,)>(&sql.renew);
        let renew = renew.bind(&self.ids).bind(&self.holds).bind(self.until);
        Ok(lost(&self.holds, &renew.fetch_all(at).await?))
    }
}

/// The holds that were not kept.
pub(super) fn lost(holds: &[String], kept: &[(String,)]) -> Vec<String> {
    let kept: std::collections::HashSet<_> = kept.iter().map(|(hold,)| hold).collect();
    let lost = holds.iter().filter(|hold| !kept.contains(hold));
    lost.cloned().collect()
}

struct Releasing {
    id: String,
    hold: String,
    due: i64,
    uncounted: i32,
}

impl Operation for Releasing {
    type Out = ();

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<(), Trouble> {
        let release = ask(&sql.release).bind(&self.id).bind(&self.hold);
        let release = release.bind(self.due).bind(self.uncounted);
        release.execute(at).await?;
        Ok(())
    }

    fn rings((): &()) -> bool {
        true
    }
}

/// Takes an errand away, done.
pub(super) struct Ending {
    id: String,
    hold: String,
    now: i64,
}

impl Ending {
    pub(super) fn new(held: &Held, now: Time) -> Result<Self> {
        Ok(Self {
            id: name(&held.errand.id)?.into_owned(),
            hold: held.hold.clone(),
            now: millis(now),
        })
    }
}

impl Operation for Ending {
    type Out = (bool, bool);

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let done = ask_as::<(bool, bool)>(&sql.done);
        let done = done.bind(&self.id).bind(&self.hold).bind(self.now);
        Ok(done.fetch_one(at).await?)
    }

    fn rings((_, rings): &Self::Out) -> bool {
        *rings
    }
}

struct Burying {
    id: String,
    hold: String,
    errand: String,
    reason: String,
    now: i64,
}

impl Burying {
    fn new(held: &Held, error: &str, now: Time) -> Result<Self> {
        let reason = Reason::Failed {
            attempts: held.attempt,
            error: error.to_owned(),
        };
        Ok(Self {
            id: name(&held.errand.id)?.into_owned(),
            hold: held.hold.clone(),
            errand: json::write(&held.errand)?,
            reason: json::write(&reason)?,
            now: millis(now),
        })
    }
}

impl Operation for Burying {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let bury = ask_as::<(bool,)>(&sql.bury)
            .bind(&self.id)
            .bind(&self.hold)
            .bind(&self.errand)
            .bind(&self.reason)
            .bind(self.now);
        Ok(bury.fetch_one(at).await?.0)
    }

    fn rings(rings: &bool) -> bool {
        *rings
    }
}

struct NextDue;

impl Operation for NextDue {
    type Out = Option<Time>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let (due,) = ask_as::<(Option<i64>,)>(&sql.next_due)
            .fetch_one(at)
            .await?;
        Ok(due.map(Time::from_millis))
    }
}

impl ErrandStore for PostgresStore {
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()> {
        if errands.is_empty() {
            return Box::pin(async { Ok(()) });
        }
        self.answer(Adding::new(&errands))
    }

    fn take_from(
        &self,
        parts: Parts,
        now: Time,
        until: Time,
        most: usize,
    ) -> Answer<'_, Vec<Held>> {
        if most == 0 {
            return Box::pin(async { Ok(Vec::new()) });
        }
        self.answer(Ok(Taking {
            of: parts.of().into(),
            parts: parts.numbers().iter().copied().map(i64::from).collect(),
            now: millis(now),
            until: millis(until),
            limit: limit(most),
            hold: drawn(),
        }))
    }

    fn renew<'a>(&'a self, holds: &'a [Held], until: Time) -> Answer<'a, Vec<String>> {
        let ids = holds.iter().map(|held| &held.errand.id);
        let ids: Result<_> = ids.map(|id| name(id).map(Cow::into_owned)).collect();
        self.answer(ids.map(|ids| Renewing {
            ids,
            holds: holds.iter().map(|held| held.hold.clone()).collect(),
            until: millis(until),
        }))
    }

    fn release<'a>(&'a self, held: &'a Held, release: Release) -> Answer<'a, ()> {
        let id = name(&held.errand.id).map(Cow::into_owned);
        self.answer(id.map(|id| Releasing {
            id,
            hold: held.hold.clone(),
            due: millis(release.due),
            uncounted: i32::from(!release.counts),
        }))
    }

    fn done<'a>(&'a self, held: &'a Held) -> Answer<'a, bool> {
        let ending = Ending::new(held, held.errand.due);
        Box::pin(async move { Ok(self.answer(ending).await?.0) })
    }

    fn bury<'a>(&'a self, held: &'a Held, error: &'a str, now: Time) -> Answer<'a, ()> {
        let burying = Burying::new(held, error, now);
        Box::pin(async move { self.answer(burying).await.map(drop) })
    }

    fn next_due(&self) -> Answer<'_, Option<Time>> {
        self.answer(Ok(NextDue))
    }

    fn rung(&self) -> Rung<'_> {
        let mut hears = self.ways.bell.hears();
        Box::pin(async move {
            if hears.changed().await.is_err() {
                // Nobody listens any more, and so nothing rings.
                std::future::pending().await
            }
        })
    }
}
