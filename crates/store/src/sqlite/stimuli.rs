//! Stimuli, timers and dead letters.

use super::{
    SqliteStore,
    errands::{self, HeldRow, add},
    error::{self, not_held},
    sql::{all, change, get, int, list, row, rows, sql, time},
    tell::{Told, send},
};
use crate::json;
use lockwork_core::workflow::{
    Answer, BookmarkId, DefinitionId, InstanceId, NodeId, Result, Stimulus, Time,
};
use lockwork_runtime::store::{
    DeadLetter, Errand, ErrandKind, Held, Letter, Sending, Sent, StimulusStore, Timer, TimerKind,
    WaitingStimulus, derived,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

impl Told {
    /// As it is given back.
    pub(super) fn sent(self) -> Result<Sent> {
        let errands = self.errands.into_iter().map(HeldRow::held);
        Ok(Sent {
            errands: errands.collect::<Result<_>>()?,
            queued: self.queued,
            duplicate: self.duplicate,
        })
    }
}

/// One that is sent by the store itself: nobody holds what follows from it, and its key has counted before.
fn again(id: String, mut stimulus: Stimulus, now: Time, expires: Time) -> Sending {
    stimulus.key = None;
    Sending {
        id,
        stimulus,
        now,
        expires: Some(expires),
        consumes: None,
        hold: now,
    }
}

async fn redirect(
    connection: &mut SqliteConnection,
    held: Held,
    now: Time,
    expires: Time,
) -> Result<()> {
    if !errands::remove(connection, &held, now).await? {
        return Err(not_held());
    }
    let ErrandKind::Deliver {
        instance,
        stimulus: Some(mut stimulus),
        ..
    } = held.errand.kind
    else {
        return Ok(());
    };
    stimulus.to.instance = Some(instance);
    let sending = again(format!("{}+", held.errand.id), stimulus, now, expires);
    send(connection, sending).await.map(drop)
}

/// What is to be done when a bookmark's time has come, unless something else resumes it.
fn timer_errand(row: &SqliteRow) -> Result<Option<Errand>> {
    let bookmark = BookmarkId::new(get(row, "id")?)?;
    if get(row, "promised")? {
        return Ok(None);
    }
    let instance = InstanceId::new(get(row, "instance")?)?;
    Ok(Some(derived::timer(
        &instance,
        &bookmark,
        time(row, "timer")?,
    )))
}

async fn fire_timers(connection: &mut SqliteConnection, now: Time, limit: usize) -> Result<usize> {
    let due = sql(
        "SELECT id, instance, timer, EXISTS (SELECT 1 FROM lockwork_errands WHERE promise = b.id) AS promised \
         FROM lockwork_bookmarks AS b WHERE timer <= $1 AND timer IS NOT NULL ORDER BY timer, id LIMIT $2",
    );
    let due = due.bind(now.as_millis()).bind(int(limit));
    let due = rows(connection, due).await?;
    if due.is_empty() {
        return Ok(0);
    }
    let (mut fired, mut errands) = (Vec::new(), Vec::new());
    for row in &due {
        // One that is damaged keeps nobody from the others, and does not come again.
        let errand = timer_errand(row).inspect_err(|error| {
            tracing::error!(%error, "a timer cannot be read and does not resume anything: export its instance and import it again");
        });
        errands.extend(errand.unwrap_or_default());
        fired.push(get::<String>(row, "id")?);
    }
    let stop = sql(
        "UPDATE lockwork_bookmarks SET timer = NULL WHERE id IN (SELECT value FROM json_each($1))",
    );
    change(connection, stop.bind(list(&fired)?)).await?;
    add(connection, errands).await?;
    Ok(fired.len())
}

async fn fire(connection: &mut SqliteConnection, now: Time, limit: usize) -> Result<usize> {
    let timers = fire_timers(connection, now, limit).await?;
    let schedules = super::definitions::fire_schedules(connection, now, limit).await?;
    Ok(timers + schedules)
}

/// Bookmarks and schedules are each read in the order of [`Timer`], and so no more of them than are wanted.
async fn timers(connection: &mut SqliteConnection, limit: usize) -> Result<Vec<Timer>> {
    let statement = sql(
        "SELECT * FROM (SELECT timer AS due, false AS starts, id AS first, instance AS second FROM lockwork_bookmarks \
         WHERE timer IS NOT NULL ORDER BY timer, id LIMIT $1) \
         UNION ALL SELECT * FROM (SELECT next, true, definition_id, node FROM lockwork_triggers \
         WHERE next IS NOT NULL ORDER BY next, definition_id, node LIMIT $1) \
         ORDER BY due, starts, first, second LIMIT $1",
    );
    let rows = rows(connection, statement.bind(int(limit))).await?;
    rows.iter().map(timer).collect()
}

fn timer(row: &SqliteRow) -> Result<Timer> {
    let (first, second) = (get(row, "first")?, get(row, "second")?);
    let kind = match get(row, "starts")? {
        true => TimerKind::Start {
            definition: DefinitionId::new(first)?,
            node: NodeId::new(second)?,
        },
        false => TimerKind::Resume {
            bookmark: BookmarkId::new(first)?,
            instance: InstanceId::new(second)?,
        },
    };
    let due = time(row, "due")?;
    Ok(Timer { due, kind })
}

async fn purge(connection: &mut SqliteConnection, now: Time, forget: Time) -> Result<usize> {
    let statements = sql(
        "INSERT INTO lockwork_dead_letters (id, at, reason, letter) \
         SELECT id, $1, '\"expired\"', json_object('stimulus', json(stimulus)) FROM lockwork_waiting \
         WHERE expires <= $1 AND expires IS NOT NULL ORDER BY ord ON CONFLICT DO NOTHING; \
         DELETE FROM lockwork_waiting WHERE expires <= $1 AND expires IS NOT NULL; \
         DELETE FROM lockwork_dead_letters WHERE at < $2; \
         DELETE FROM lockwork_stimulus_keys WHERE came < $2",
    );
    let statements = statements.bind(now.as_millis()).bind(forget.as_millis());
    let done = all(connection, statements).await.map_err(error::of)?;
    let expired = done.get(1).map_or(0, |done| done.changed);
    Ok(usize::try_from(expired).unwrap_or(usize::MAX))
}

async fn replay(
    connection: &mut SqliteConnection,
    id: String,
    new_id: String,
    now: Time,
    expires: Time,
) -> Result<bool> {
    let statement = sql(
        "UPDATE lockwork_dead_letters SET replayed = $2 WHERE id = $1 AND replayed IS NULL RETURNING letter",
    );
    let statement = statement.bind(id.clone()).bind(now.as_millis());
    let Some(row) = row(connection, statement).await? else {
        return Ok(false);
    };
    match json::read("lockwork_dead_letters", &id, get(&row, "letter")?)? {
        Letter::Errand(errand) => {
            let errand = Errand {
                id: new_id,
                due: now,
                ..errand
            };
            add(connection, vec![errand]).await?;
        }
        Letter::Stimulus(waiting) => {
            let sending = again(new_id, waiting.stimulus, now, expires);
            send(connection, sending).await?;
        }
    }
    Ok(true)
}

fn dead_letter(row: &SqliteRow) -> Result<DeadLetter> {
    let id: String = get(row, "id")?;
    let replayed: Option<i64> = get(row, "replayed")?;
    Ok(DeadLetter {
        letter: json::read("lockwork_dead_letters", &id, get(row, "letter")?)?,
        reason: json::read("lockwork_dead_letters", &id, get(row, "reason")?)?,
        at: time(row, "at")?,
        replayed: replayed.map(Time::from_millis),
        id,
    })
}

impl StimulusStore for SqliteStore {
    fn send(&self, sending: Sending) -> Answer<'_, Sent> {
        Box::pin(async move {
            let told = self.write(move |connection| Box::pin(send(connection, sending)));
            told.await?.sent()
        })
    }

    fn redirect<'a>(&'a self, held: &'a Held, now: Time, expires: Time) -> Answer<'a, ()> {
        let held = held.clone();
        Box::pin(self.write(move |connection| Box::pin(redirect(connection, held, now, expires))))
    }

    fn fire(&self, now: Time, limit: usize) -> Answer<'_, usize> {
        Box::pin(self.write(move |connection| Box::pin(fire(connection, now, limit))))
    }

    fn timers(&self, limit: usize) -> Answer<'_, Vec<Timer>> {
        Box::pin(async move { timers(&mut *self.reader().await?, limit).await })
    }

    fn waiting(&self) -> Answer<'_, Vec<WaitingStimulus>> {
        Box::pin(async move {
            let statement = sql("SELECT id, stimulus FROM lockwork_waiting ORDER BY ord");
            let rows = rows(&mut *self.reader().await?, statement).await?;
            let waiting = rows.iter().map(|row| {
                let id: String = get(row, "id")?;
                json::read("lockwork_waiting", &id, get(row, "stimulus")?)
            });
            waiting.collect()
        })
    }

    fn purge(&self, now: Time, forget: Time) -> Answer<'_, usize> {
        Box::pin(self.write(move |connection| Box::pin(purge(connection, now, forget))))
    }

    fn dead_letters(&self) -> Answer<'_, Vec<DeadLetter>> {
        Box::pin(async move {
            let statement = sql(
                "SELECT id, letter, reason, at, replayed FROM lockwork_dead_letters ORDER BY id",
            );
            let rows = rows(&mut *self.reader().await?, statement).await?;
            rows.iter().map(dead_letter).collect()
        })
    }

    fn replay<'a>(
        &'a self,
        id: &'a str,
        again: &'a str,
        now: Time,
        expires: Time,
    ) -> Answer<'a, bool> {
        let (id, again) = (id.to_owned(), again.to_owned());
        Box::pin(
            self.write(move |connection| Box::pin(replay(connection, id, again, now, expires))),
        )
    }
}
