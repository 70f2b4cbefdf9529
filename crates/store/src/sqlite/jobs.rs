//! Long work.

use super::{
    SqliteStore,
    errands::{add, lost, new_hold},
    sql::{change, get, int, list, number, rows, sql},
};
use crate::json;
use lockwork_core::workflow::{Answer, BookmarkId, InstanceId, Result, Time, Values};
use lockwork_runtime::store::{JobStore, TakenJob, derived};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

fn taken(row: &SqliteRow) -> Result<TakenJob> {
    let bookmark: String = get(row, "bookmark")?;
    Ok(TakenJob {
        instance: InstanceId::new(get(row, "instance")?)?,
        job: json::read("lockwork_jobs", &bookmark, get(row, "job")?)?,
        bookmark: BookmarkId::new(&bookmark)?,
        hold: get(row, "hold")?,
        attempt: number(row, "attempts")?.try_into().unwrap_or(u32::MAX),
    })
}

async fn take(
    connection: &mut SqliteConnection,
    now: Time,
    until: Time,
    limit: usize,
) -> Result<Vec<TakenJob>> {
    let statement = sql(
        "SELECT bookmark, instance, job, $3 || bookmark AS hold, attempts + 1 AS attempts FROM lockwork_jobs \
         WHERE free <= $1 ORDER BY bookmark LIMIT $4; \
         UPDATE lockwork_jobs SET hold = $3 || bookmark, free = $2, attempts = attempts + 1 \
         WHERE bookmark IN (SELECT bookmark FROM lockwork_jobs WHERE free <= $1 ORDER BY bookmark LIMIT $4)",
    );
    let statement = statement
        .bind(now.as_millis())
        .bind(until.as_millis())
        .bind(format!("{}/", new_hold()))
        .bind(int(limit));
    let rows = rows(connection, statement).await?;
    // One that is damaged keeps nobody from the others.
    let jobs = rows.iter().map(taken).filter_map(|job| {
        job.inspect_err(|error| tracing::error!(%error, "a job cannot be handed out"))
            .ok()
    });
    Ok(jobs.collect())
}

/// Those that are not wanted any more.
async fn renew(
    connection: &mut SqliteConnection,
    held: Vec<(BookmarkId, String)>,
    until: Time,
) -> Result<Vec<String>> {
    let statement = sql(
        "UPDATE lockwork_jobs SET free = $2 FROM json_each($1) AS held \
         WHERE bookmark = held.value ->> 0 AND hold = held.value ->> 1 RETURNING hold",
    );
    let statement = statement.bind(list(&held)?).bind(until.as_millis());
    let kept = rows(connection, statement).await?;
    lost(held.into_iter().map(|(_, hold)| hold), &kept)
}

async fn release(
    connection: &mut SqliteConnection,
    held: Vec<(BookmarkId, String)>,
    now: Time,
) -> Result<()> {
    let statement = sql(
        "UPDATE lockwork_jobs SET free = $2, hold = NULL, attempts = attempts - 1 FROM json_each($1) AS held \
         WHERE bookmark = held.value ->> 0 AND hold = held.value ->> 1",
    );
    let statement = statement.bind(list(&held)?).bind(now.as_millis());
    change(connection, statement).await.map(drop)
}

/// By what the store knows them.
fn holds(jobs: &[TakenJob]) -> Vec<(BookmarkId, String)> {
    let held = jobs.iter();
    held.map(|job| (job.bookmark.clone(), job.hold.clone()))
        .collect()
}

async fn finish(
    connection: &mut SqliteConnection,
    job: TakenJob,
    result: Values,
    now: Time,
) -> Result<bool> {
    let statement = sql("DELETE FROM lockwork_jobs WHERE bookmark = $1 AND hold = $2");
    let statement = statement
        .bind(job.bookmark.to_string())
        .bind(job.hold.clone());
    if change(connection, statement).await? == 0 {
        return Ok(false);
    }
    add(connection, vec![derived::job_done(&job, result, now)]).await?;
    Ok(true)
}

impl JobStore for SqliteStore {
    fn take_jobs(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<TakenJob>> {
        Box::pin(self.hold(move |connection| Box::pin(take(connection, now, until, limit))))
    }

    fn renew_jobs<'a>(&'a self, jobs: &'a [TakenJob], until: Time) -> Answer<'a, Vec<String>> {
        let held = holds(jobs);
        Box::pin(self.hold(move |connection| Box::pin(renew(connection, held, until))))
    }

    fn release_jobs<'a>(&'a self, jobs: &'a [TakenJob], now: Time) -> Answer<'a, ()> {
        let held = holds(jobs);
        Box::pin(self.hold(move |connection| Box::pin(release(connection, held, now))))
    }

    fn finish_job<'a>(&'a self, job: &'a TakenJob, result: Values, now: Time) -> Answer<'a, bool> {
        let job = job.clone();
        Box::pin(self.write(move |connection| Box::pin(finish(connection, job, result, now))))
    }
}
