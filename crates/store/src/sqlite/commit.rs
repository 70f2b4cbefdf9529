//! Everything that changes at once: one statement that judges a commit, and those that need it to count, in one go.

use super::{
    create::{Columns, missing, other},
    errands::{HeldRow, NewErrand, insert_errands, resumed},
    error,
    offer::{self, offer, offer_all},
    sql::{Sql, all, get, int, list, number, parts, row, sql},
};
use lockwork_core::workflow::{Bookmark, Error, Result, Time};
use lockwork_runtime::store::{Claim, Commit, Committed, Held};
use serde::Serialize;
use sqlx::{Row, SqliteConnection};

/// Adds the bookmarks of the instance `$1` that are in a list.
macro_rules! insert_bookmarks {
    ($list:literal) => {
        concat!(
            "INSERT OR REPLACE INTO lockwork_bookmarks (id, instance, hash, execution, burns, due) \
             SELECT value ->> 0, $1, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(",
            $list,
            ");"
        )
    };
}
pub(super) use insert_bookmarks;

/// Counts with its epoch, its claim and its version, if its errand is held and no other like the instance runs since it
/// was over.
const JUDGE: &str = "UPDATE lockwork_instances SET state = $5, sub_status = $6, moved = correlation IS NOT $7, \
    correlation = $7, running = $8, finished = $9, version = version + 1, committed_by = $3, cancel = cancel AND $8 \
    WHERE id = $1 AND epoch = $2 AND claim = $3 AND version = $4 \
    AND ($10 IS NULL OR EXISTS (SELECT 1 FROM lockwork_errands WHERE id = $10 AND hold = $11)) \
    AND (running OR activation IS NULL OR NOT EXISTS (SELECT 1 FROM lockwork_instances AS other \
        WHERE other.activation = lockwork_instances.activation AND other.activation IS NOT NULL AND other.running)) \
    RETURNING version, cancel, moved; \
    INSERT INTO lockwork_refusals SELECT 1 WHERE changes() <> 1;";

const REMOVE: &str =
    "DELETE FROM lockwork_bookmarks WHERE id IN (SELECT value FROM json_each($12));";
const ADD: &str = insert_bookmarks!("$13");
const JOURNAL: &str = "INSERT INTO lockwork_journal (instance, sequence, version, claim, entry) \
    SELECT $1, value ->> 'sequence', $4 + 1, $3, value FROM json_each($14);";
const OVER: &str = "DELETE FROM lockwork_bookmarks WHERE instance = $1; \
    DELETE FROM lockwork_waiting WHERE instance = $1;";
const JOBS: &str = "INSERT OR REPLACE INTO lockwork_jobs (bookmark, instance, free, attempts, job) \
    SELECT value ->> 0, $1, 0, 0, value -> 1 FROM json_each($15);";
const TASKS: &str = "INSERT OR REPLACE INTO lockwork_tasks (bookmark, instance, task) \
    SELECT value ->> 0, $1, value -> 1 FROM json_each($16);";
const CONSUME: &str = "DELETE FROM lockwork_errands WHERE id = $10 AND hold = $11;";
const STAY: &str =
    "UPDATE lockwork_errands SET attempts = 1 WHERE id = $10 AND hold = $11 AND attempts <> 1;";
const OFFER: &str = offer_all!("$17");
const ERRANDS: &str = insert_errands!("$18");

/// A commit as the database is given it: written by whoever asks for it, because whoever has the connection keeps
/// others waiting.
pub(super) struct Written {
    claim: Claim,
    consumes: Option<Held>,
    /// Bookmarks for which stimuli may have waited.
    offered: Vec<String>,
    /// All bookmarks at which the instance waits.
    waiting: Vec<String>,
    now: Time,
    statements: Sql,
    continues: bool,
}

/// A list, if there is anything in it.
fn some<T: Serialize>(items: Vec<T>) -> Result<Option<String>> {
    match items.is_empty() {
        true => Ok(None),
        false => list(items).map(Some),
    }
}

pub(super) fn names(bookmarks: &[Bookmark]) -> Vec<String> {
    bookmarks.iter().map(|one| one.id.to_string()).collect()
}

/// Bookmarks, for `insert_bookmarks`.
pub(super) fn bookmark_rows(bookmarks: &[Bookmark]) -> Vec<impl Serialize> {
    let rows = bookmarks.iter();
    let rows = rows.map(|one| (&one.id, one.hash, &one.execution, one.burns, one.due));
    rows.collect()
}

impl Written {
    pub(super) fn new(commit: Commit) -> Result<Self> {
        let state = Columns::new(&commit.state)?;
        // Nobody waits in what is over.
        let added = commit.added.as_slice();
        let added = if state.running { added } else { &[] };
        let (claim, consumes) = (commit.claim, commit.consumes);
        let mut offered = names(added);
        let (done, stays) = (!commit.stays, commit.stays);
        offered.extend(consumes.as_ref().filter(|_| done).and_then(resumed));
        let free = commit.errands.into_iter().map(NewErrand::free);
        let continues = commit.continues.is_some();
        let held = commit.continues.into_iter();
        let held = held.map(|(errand, until)| NewErrand::held(errand, until));
        let jobs = commit.jobs.iter().map(|job| (&job.bookmark, &job.job));
        let (removed, added) = (some(commit.removed)?, some(bookmark_rows(added))?);
        let (journal, tasks) = (some(commit.journal)?, some(commit.tasks)?);
        let (jobs, errands) = (some(jobs.collect())?, some(free.chain(held).collect())?);
        let needed = [
            (true, JUDGE),
            (removed.is_some(), REMOVE),
            (added.is_some(), ADD),
            (journal.is_some(), JOURNAL),
            (!state.running, OVER),
            (jobs.is_some(), JOBS),
            (tasks.is_some(), TASKS),
            (done && consumes.is_some(), CONSUME),
            (stays && consumes.is_some(), STAY),
            (!offered.is_empty(), OFFER),
            (errands.is_some(), ERRANDS),
        ];
        let needed = needed.into_iter().filter(|(needed, _)| *needed);
        let needed: Vec<_> = needed.map(|(_, part)| part).collect();
        let statements = parts(&needed)
            .bind(claim.instance.to_string())
            .bind(int(claim.epoch))
            .bind(claim.id.clone())
            .bind(int(claim.version))
            .bind(state.state)
            .bind(state.sub_status)
            .bind(state.correlation)
            .bind(state.running)
            .bind(state.finished)
            .bind(consumes.as_ref().map(|held| held.errand.id.clone()))
            .bind(consumes.as_ref().map(|held| held.hold.clone()))
            .bind(removed)
            .bind(added)
            .bind(journal)
            .bind(jobs)
            .bind(tasks)
            .bind(some(offered.clone())?)
            .bind(errands);
        Ok(Self {
            waiting: names(commit.state.waiting()),
            now: commit.now,
            statements,
            continues,
            consumes,
            offered,
            claim,
        })
    }
}

/// Writes everything, or nothing. What has to be done next is given back as it was written.
pub(super) async fn commit(
    connection: &mut SqliteConnection,
    new: Written,
) -> Result<(Committed, Option<HeldRow>)> {
    let done = match all(connection, new.statements).await {
        Err(refused) if error::is_refusal(&refused) => {
            return Err(why(connection, &new.claim, new.consumes.as_ref()).await?);
        }
        done => done.map_err(error::of)?,
    };
    let row = done.first().and_then(|done| done.rows.first());
    let row = row.ok_or_else(|| error::of(sqlx::Error::RowNotFound))?;
    let committed = Committed {
        version: number(row, "version")?,
        cancel: get(row, "cancel")?,
        continues: None,
    };
    let moved: bool = get(row, "moved")?;
    let rest = done.iter().skip(1).flat_map(|done| &done.rows);
    let (found, written): (Vec<_>, Vec<_>) = rest.partition(|row| row.len() == offer::COLUMNS);
    offer::follow(connection, !found.is_empty(), &new.offered, new.now).await?;
    if moved {
        // Other stimuli fit an instance with another correlation.
        offer(connection, &new.waiting, new.now).await?;
    }
    let next = written.last().filter(|_| new.continues);
    Ok((committed, next.map(|row| HeldRow::read(row)).transpose()?))
}

/// Why a commit does not count.
async fn why(
    connection: &mut SqliteConnection,
    claim: &Claim,
    held: Option<&Held>,
) -> Result<Error> {
    let statement = sql(
        "SELECT epoch = $2 AND claim = $3 AND version = $4 AS claimed, \
         $5 IS NULL OR EXISTS (SELECT 1 FROM lockwork_errands WHERE id = $5 AND hold = $6) AS held, activation \
         FROM lockwork_instances WHERE id = $1",
    );
    let statement = statement
        .bind(claim.instance.to_string())
        .bind(int(claim.epoch))
        .bind(claim.id.clone())
        .bind(int(claim.version))
        .bind(held.map(|held| held.errand.id.clone()))
        .bind(held.map(|held| held.hold.clone()));
    let Some(row) = row(connection, statement).await? else {
        return Ok(missing(&claim.instance));
    };
    if !get::<bool>(&row, "claimed")? {
        let message = "somebody else has claimed this instance since";
        return Ok(error::fenced(message).with("instance", &claim.instance));
    }
    if !get::<bool>(&row, "held")? {
        return Ok(error::not_held());
    }
    let activation = get(&row, "activation")?;
    Ok(other(connection, activation, &claim.instance)
        .await?
        .unwrap_or_else(|| error::of(sqlx::Error::RowNotFound)))
}
