//! Telling everybody for whom a stimulus is: who waits for it, who is started by it, and who gets it later.

use super::{
    errands::{HeldRow, NewErrand, insert_errands, remove, resumed},
    error,
    sql::{Done, all, get, list, parts},
};
use lockwork_core::workflow::{
    Addressee, BookmarkId, DefinitionId, InstanceId, NodeId, Result, Stimulus, VersionId,
};
use lockwork_runtime::store::{Errand, Sending, TriggerRow, WaitingStimulus, derived};
use serde::Serialize;
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use std::collections::BTreeSet;

const LOOK: &str = "SELECT $6 IS NULL OR EXISTS (SELECT 1 FROM lockwork_errands WHERE id = $6 AND hold = $7) AS held, \
    EXISTS (SELECT 1 FROM lockwork_stimulus_keys WHERE key = $8) AS duplicate, \
    EXISTS (SELECT 1 FROM lockwork_instances WHERE id = $2 AND NOT running) AS over;";

const KEEP_KEY: &str = "INSERT INTO lockwork_stimulus_keys (key, came) VALUES ($8, $9) \
    ON CONFLICT DO UPDATE SET came = excluded.came;";

const TRIGGERS: &str = "SELECT definition_id, version_id, node, hash FROM lockwork_triggers WHERE hash = $1 \
    ORDER BY definition_id, place;";

/// Those who may wait for it, by what finds the fewest.
const fn who(to: &Addressee) -> &'static str {
    const BY_INSTANCE: &str = "FROM lockwork_bookmarks AS b JOIN lockwork_instances AS i ON i.id = b.instance \
        WHERE b.hash = $1 AND b.instance = $2";
    const BY_BOOKMARK: &str = "FROM lockwork_bookmarks AS b JOIN lockwork_instances AS i ON i.id = b.instance \
        WHERE b.id = $5 AND b.hash = $1";
    const BY_CORRELATION: &str = "FROM lockwork_instances AS i CROSS JOIN lockwork_bookmarks AS b \
        WHERE i.correlation = $3 AND i.correlation IS NOT NULL AND b.hash = $1 AND b.instance = i.id";
    const BY_HASH: &str = "FROM lockwork_bookmarks AS b JOIN lockwork_instances AS i ON i.id = b.instance \
        WHERE b.hash = $1";
    match to {
        Addressee {
            instance: Some(_), ..
        } => BY_INSTANCE,
        Addressee {
            bookmark: Some(_), ..
        } => BY_BOOKMARK,
        Addressee {
            correlation: Some(_),
            ..
        } => BY_CORRELATION,
        _ => BY_HASH,
    }
}

/// What became of a stimulus, with errands as they were written.
#[derive(Default)]
pub(super) struct Told {
    pub(super) errands: Vec<HeldRow>,
    pub(super) queued: bool,
    pub(super) duplicate: bool,
}

pub(super) async fn send(connection: &mut SqliteConnection, sending: Sending) -> Result<Told> {
    let found = look(connection, &sending).await?;
    let mut told = Told {
        duplicate: found.duplicate,
        ..Told::default()
    };
    let (mut errands, mut waiting) = (Vec::new(), Vec::new());
    if !found.duplicate {
        let stimulus = &sending.stimulus;
        let starts = found.triggers.iter().enumerate();
        let starts = starts.map(|(number, (version, trigger))| {
            derived::triggered(&sending, number, version, trigger)
        });
        errands.extend(starts);
        errands.extend(found.deliveries);
        told.queued = errands.is_empty() && !stimulus.fleeting && !found.over;
        if told.queued && found.busy.is_empty() {
            waiting.push(keep(&sending, sending.id.clone(), stimulus.clone()));
        }
        for instance in found.busy.into_iter().filter(|_| !stimulus.fleeting) {
            let mut own = stimulus.clone();
            let id = format!("{}@{instance}", sending.id);
            own.to.instance = Some(instance);
            waiting.push(keep(&sending, id, own));
        }
    }
    told.errands = write(connection, &sending, errands, waiting).await?;
    if let Some(held) = sending
        .consumes
        .as_ref()
        .filter(|held| resumed(held).is_some())
    {
        remove(connection, held, sending.now).await?;
    }
    Ok(told)
}

#[derive(Default)]
struct Found {
    duplicate: bool,
    over: bool,
    deliveries: Vec<Errand>,
    /// Instances with a bookmark that something else will resume first: they get it when they wait again.
    busy: BTreeSet<InstanceId>,
    triggers: Vec<(VersionId, TriggerRow)>,
}

async fn look(connection: &mut SqliteConnection, sending: &Sending) -> Result<Found> {
    let Sending {
        stimulus, consumes, ..
    } = sending;
    let (to, keyed) = (&stimulus.to, stimulus.key.is_some());
    let starts = !to.is_certain();
    let statements = parts(&[
        LOOK,
        "SELECT b.id, b.instance, b.burns AND EXISTS (SELECT 1 FROM lockwork_errands WHERE promise = b.id) AS busy ",
        who(to),
        " AND ($2 IS NULL OR b.instance = $2) AND ($3 IS NULL OR i.correlation = $3) \
         AND ($4 IS NULL OR b.execution = $4) AND ($5 IS NULL OR b.id = $5) ORDER BY b.id;",
        if starts { TRIGGERS } else { "" },
        if keyed { KEEP_KEY } else { "" },
    ]);
    let statements = statements
        .bind(stimulus.hash.to_string())
        .bind(to.instance.as_ref().map(ToString::to_string))
        .bind(to.correlation.clone())
        .bind(to.execution.as_ref().map(ToString::to_string))
        .bind(to.bookmark.as_ref().map(ToString::to_string))
        .bind(consumes.as_ref().map(|held| held.errand.id.clone()))
        .bind(consumes.as_ref().map(|held| held.hold.clone()))
        .bind(stimulus.key.clone())
        .bind(sending.now.as_millis());
    let done = all(connection, statements).await.map_err(error::of)?;
    let mut done = done.into_iter();
    let mut next = || done.next().unwrap_or_default();
    let (first, bookmarks) = (next(), next());
    let triggers = if starts { next() } else { Done::default() };
    let mut found = Found::default();
    if let Some(row) = first.rows.first() {
        if !get::<bool>(row, "held")? {
            return Err(error::not_held());
        }
        (found.duplicate, found.over) = (get(row, "duplicate")?, get(row, "over")?);
    }
    for row in &bookmarks.rows {
        found.add(row, sending)?;
    }
    let triggers = triggers.rows.iter().map(|row| trigger(row, stimulus));
    found.triggers = triggers.collect::<Result<_>>()?;
    Ok(found)
}

impl Found {
    fn add(&mut self, row: &SqliteRow, sending: &Sending) -> Result<()> {
        let instance = InstanceId::new(get(row, "instance")?)?;
        if get(row, "busy")? {
            self.busy.insert(instance);
            return Ok(());
        }
        let bookmark = BookmarkId::new(get(row, "id")?)?;
        let (stimulus, now) = (sending.stimulus.clone(), sending.now);
        let errand = derived::delivery(&sending.id, &instance, &bookmark, stimulus, now);
        self.deliveries.push(errand);
        Ok(())
    }
}

fn trigger(row: &SqliteRow, stimulus: &Stimulus) -> Result<(VersionId, TriggerRow)> {
    DefinitionId::new(get(row, "definition_id")?)?;
    let trigger = TriggerRow {
        node: NodeId::new(get(row, "node")?)?,
        hash: stimulus.hash,
        schedule: None,
        next: None,
    };
    Ok((VersionId::new(get(row, "version_id")?)?, trigger))
}

fn keep(sending: &Sending, id: String, stimulus: Stimulus) -> WaitingStimulus {
    WaitingStimulus {
        id,
        stimulus,
        created: sending.now,
        expires: sending
            .expires
            .filter(|_| !sending.stimulus.to.is_certain()),
    }
}

/// A stimulus that waits, with what it is found by.
#[derive(Serialize)]
struct Waits {
    to: Addressee,
    waiting: WaitingStimulus,
}

const WAIT: &str = "INSERT INTO lockwork_waiting (id, hash, instance, correlation, execution, bookmark, expires, stimulus) \
    SELECT value ->> '$.waiting.id', value ->> '$.waiting.stimulus.hash', value ->> '$.to.instance', \
    value ->> '$.to.correlation', value ->> '$.to.execution', value ->> '$.to.bookmark', \
    value ->> '$.waiting.expires', value -> 'waiting' FROM json_each($2);";
const CONSUME: &str = "DELETE FROM lockwork_errands WHERE id = $3 AND hold = $4;";

async fn write(
    connection: &mut SqliteConnection,
    sending: &Sending,
    errands: Vec<Errand>,
    waiting: Vec<WaitingStimulus>,
) -> Result<Vec<HeldRow>> {
    let consumes = sending.consumes.as_ref();
    // One that resumes nobody keeps nobody from anything, and goes at once.
    let consumes = consumes.filter(|held| resumed(held).is_none());
    let needed = [
        (!errands.is_empty(), insert_errands!("$1")),
        (!waiting.is_empty(), WAIT),
        (consumes.is_some(), CONSUME),
    ];
    let needed = needed.into_iter().filter(|(needed, _)| *needed);
    let needed: Vec<_> = needed.map(|(_, part)| part).collect();
    if needed.is_empty() {
        return Ok(Vec::new());
    }
    // Nobody is at them, if the sender does not hold them.
    let holds = sending.hold > sending.now;
    let new = errands.into_iter().map(|errand| match holds {
        true => NewErrand::held(errand, sending.hold),
        false => NewErrand::free(errand),
    });
    let waiting = waiting.into_iter().map(|waiting| Waits {
        to: waiting.stimulus.to.clone(),
        waiting,
    });
    let statements = parts(&needed)
        .bind(list(new)?)
        .bind(list(waiting)?)
        .bind(consumes.map(|held| held.errand.id.clone()))
        .bind(consumes.map(|held| held.hold.clone()));
    let done = all(connection, statements).await.map_err(error::of)?;
    let rows = done.iter().flat_map(|done| &done.rows).filter(|_| holds);
    rows.map(HeldRow::read).collect()
}
