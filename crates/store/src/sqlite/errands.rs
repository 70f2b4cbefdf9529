//! What has to be done.

use super::{
    SqliteStore,
    error::not_held,
    offer::{self, offer},
    sql::{change, get, int, list, number, parts as of_parts, row, rows, sql, time},
};
use crate::json;
use lockwork_core::workflow::{Answer, BookmarkId, InstanceId, Result, Time};
use lockwork_runtime::store::{
    Errand, ErrandId, ErrandKind, ErrandStore, Held, Letter, Parts, Reason, Release,
};
use rand::RngExt;
use serde::Serialize;
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use std::collections::HashSet;

/// Adds what is in the list `$1`. What is there already stays as it is; if it is to be held, it is held by whoever asks.
macro_rules! insert_errands {
    ($list:literal) => {
        concat!(
            "INSERT INTO lockwork_errands (id, instance, promise, due, free, hold, attempts, kind) \
             SELECT value ->> 'id', value ->> 'instance', value ->> 'promise', value ->> 'due', value ->> 'free', \
             value ->> 'hold', value ->> 'hold' IS NOT NULL, value -> 'kind' FROM json_each(",
            $list,
            ") WHERE true ON CONFLICT (id) DO UPDATE \
             SET hold = excluded.hold, free = excluded.free, attempts = attempts + 1 WHERE excluded.hold IS NOT NULL \
             RETURNING id, kind, due, hold, attempts;"
        )
    };
}
pub(super) use insert_errands;

/// An errand as it is handed to `insert_errands`.
#[derive(Serialize)]
pub(super) struct NewErrand {
    id: ErrandId,
    instance: Option<InstanceId>,
    promise: Option<BookmarkId>,
    due: Time,
    free: Time,
    hold: Option<String>,
    kind: ErrandKind,
}

impl NewErrand {
    /// One that anybody may be handed.
    pub(super) fn free(errand: Errand) -> Self {
        let Errand { id, kind, due } = errand;
        let promise = match &kind {
            ErrandKind::Deliver { bookmark, .. } => Some(bookmark.clone()),
            _ => None,
        };
        Self {
            instance: kind.instance().cloned(),
            free: due,
            hold: None,
            promise,
            id,
            kind,
            due,
        }
    }

    /// One that is held by whoever asks, until then.
    pub(super) fn held(errand: Errand, until: Time) -> Self {
        Self {
            free: until,
            hold: Some(new_hold()),
            ..Self::free(errand)
        }
    }
}

/// What nobody else draws.
pub(super) fn new_hold() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// An errand in a row, of which somebody else may have made something that is none.
#[derive(Debug)]
pub(super) struct HeldRow {
    id: String,
    kind: String,
    due: Time,
    hold: String,
    attempt: u32,
}

impl HeldRow {
    pub(super) fn read(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            id: get(row, "id")?,
            kind: get(row, "kind")?,
            due: time(row, "due")?,
            hold: get(row, "hold")?,
            attempt: number(row, "attempts")?.try_into().unwrap_or(u32::MAX),
        })
    }

    pub(super) fn held(self) -> Result<Held> {
        Ok(Held {
            errand: Errand {
                kind: json::read("lockwork_errands", &self.id, &self.kind)?,
                id: self.id,
                due: self.due,
            },
            hold: self.hold,
            attempt: self.attempt,
        })
    }
}

pub(super) async fn add(connection: &mut SqliteConnection, errands: Vec<Errand>) -> Result<()> {
    let new = list(errands.into_iter().map(NewErrand::free))?;
    let statement = sql(insert_errands!("$1")).bind(new);
    change(connection, statement).await.map(drop)
}

async fn take(
    connection: &mut SqliteConnection,
    parts: Parts,
    now: Time,
    until: Time,
    limit: usize,
) -> Result<Vec<HeldRow>> {
    // The name of a hold is that of the handing out and a number, so that each has its own.
    const READY: &str = " FROM lockwork_errands WHERE free <= $1 \
         AND ord % $5 IN (SELECT value FROM json_each($6)) ORDER BY free, ord LIMIT $4";
    let statement = of_parts(&[
        "SELECT id, kind, due, $3 || ord AS hold, attempts + 1 AS attempts",
        READY,
        "; UPDATE lockwork_errands SET hold = $3 || ord, free = $2, attempts = attempts + 1 WHERE ord IN (SELECT ord",
        READY,
        ")",
    ]);
    let statement = statement
        .bind(now.as_millis())
        .bind(until.as_millis())
        .bind(format!("{}/", new_hold()))
        .bind(int(limit))
        .bind(int(parts.of()))
        .bind(list(parts.numbers())?);
    let rows = rows(connection, statement).await?;
    rows.iter().map(HeldRow::read).collect()
}

/// Those that are not held any more.
async fn renew(
    connection: &mut SqliteConnection,
    held: Vec<(String, String)>,
    until: Time,
) -> Result<Vec<String>> {
    let statement = sql(
        "UPDATE lockwork_errands SET free = $2 FROM json_each($1) AS held \
         WHERE lockwork_errands.id = held.value ->> 0 AND hold = held.value ->> 1 RETURNING hold",
    );
    let statement = statement.bind(list(&held)?).bind(until.as_millis());
    let kept = rows(connection, statement).await?;
    lost(held.into_iter().map(|(_, hold)| hold), &kept)
}

/// The holds that were not kept.
pub(super) fn lost(holds: impl Iterator<Item = String>, kept: &[SqliteRow]) -> Result<Vec<String>> {
    let kept: Result<HashSet<String>> = kept.iter().map(|row| get(row, "hold")).collect();
    let kept = kept?;
    Ok(holds.filter(|hold| !kept.contains(hold)).collect())
}

async fn release(connection: &mut SqliteConnection, held: Held, release: Release) -> Result<()> {
    let statement = sql(
        "UPDATE lockwork_errands SET free = $3, hold = NULL, attempts = attempts - $4 WHERE id = $1 AND hold = $2",
    );
    let statement = statement
        .bind(held.errand.id)
        .bind(held.hold)
        .bind(release.due.as_millis())
        .bind(i64::from(!release.counts));
    change(connection, statement).await.map(drop)
}

/// Takes one away that is still held. Whoever it had kept from its bookmark has a chance then.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    held: &Held,
    now: Time,
) -> Result<bool> {
    let statement =
        sql("DELETE FROM lockwork_errands WHERE id = $1 AND hold = $2 RETURNING promise");
    let statement = statement
        .bind(held.errand.id.clone())
        .bind(held.hold.clone());
    let Some(removed) = row(connection, statement).await? else {
        return Ok(false);
    };
    if let Some(bookmark) = get::<Option<String>>(&removed, "promise")? {
        offer(connection, &[bookmark], now).await?;
    }
    Ok(true)
}

/// The bookmark that an errand resumes.
pub(super) fn resumed(held: &Held) -> Option<String> {
    match &held.errand.kind {
        ErrandKind::Deliver { bookmark, .. } => Some(bookmark.to_string()),
        _ => None,
    }
}

async fn bury(
    connection: &mut SqliteConnection,
    held: Held,
    error: String,
    now: Time,
) -> Result<()> {
    if !remove(connection, &held, now).await? {
        return Err(not_held());
    }
    if let ErrandKind::Deliver {
        bookmark,
        stimulus: None,
        ..
    } = &held.errand.kind
    {
        // A bookmark whose time has come and could not be resumed: it does not come again.
        offer::stop_timer(connection, bookmark).await?;
    }
    let reason = Reason::Failed {
        attempts: held.attempt,
        error,
    };
    let id = held.errand.id.clone();
    let statement = sql(
        "INSERT INTO lockwork_dead_letters (id, at, reason, letter) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    );
    let statement = statement
        .bind(id)
        .bind(now.as_millis())
        .bind(json::write(&reason)?)
        .bind(json::write(&Letter::Errand(held.errand))?);
    change(connection, statement).await.map(drop)
}

impl ErrandStore for SqliteStore {
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()> {
        Box::pin(self.write(move |connection| Box::pin(add(connection, errands))))
    }

    fn take_from(
        &self,
        parts: Parts,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Answer<'_, Vec<Held>> {
        Box::pin(async move {
            let taken =
                self.hold(move |connection| Box::pin(take(connection, parts, now, until, limit)));
            // One that is damaged keeps nobody from the others.
            let held = taken.await?.into_iter().filter_map(|row| {
                let held = row.held();
                held.inspect_err(|error| tracing::error!(%error, "an errand cannot be handed out"))
                    .ok()
            });
            Ok(held.collect())
        })
    }

    fn renew<'a>(&'a self, holds: &'a [Held], until: Time) -> Answer<'a, Vec<String>> {
        let held = holds.iter();
        let held = held.map(|held| (held.errand.id.clone(), held.hold.clone()));
        let held: Vec<_> = held.collect();
        Box::pin(self.hold(move |connection| Box::pin(renew(connection, held, until))))
    }

    fn release<'a>(&'a self, held: &'a Held, with: Release) -> Answer<'a, ()> {
        let held = held.clone();
        Box::pin(self.hold(move |connection| Box::pin(release(connection, held, with))))
    }

    fn done<'a>(&'a self, held: &'a Held) -> Answer<'a, bool> {
        let held = held.clone();
        Box::pin(self.write(move |connection| {
            Box::pin(async move { remove(connection, &held, held.errand.due).await })
        }))
    }

    fn bury<'a>(&'a self, held: &'a Held, error: &'a str, now: Time) -> Answer<'a, ()> {
        let (held, error) = (held.clone(), error.to_owned());
        Box::pin(self.write(move |connection| Box::pin(bury(connection, held, error, now))))
    }

    fn next_due(&self) -> Answer<'_, Option<Time>> {
        Box::pin(async move {
            let statement = sql("SELECT (SELECT min(free) FROM lockwork_errands) AS a, \
                 (SELECT min(timer) FROM lockwork_bookmarks WHERE timer IS NOT NULL) AS b, \
                 (SELECT min(next) FROM lockwork_triggers WHERE next IS NOT NULL) AS c, \
                 (SELECT min(free) FROM lockwork_jobs) AS d");
            let Some(row) = row(&mut *self.reader().await?, statement).await? else {
                return Ok(None);
            };
            let mut due: Option<i64> = None;
            for column in ["a", "b", "c", "d"] {
                let next: Option<i64> = get(&row, column)?;
                due = [due, next].into_iter().flatten().min();
            }
            Ok(due.map(Time::from_millis))
        })
    }
}
