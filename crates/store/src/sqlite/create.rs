//! Creating instances, unless there is one.

use super::{
    errands::{HeldRow, NewErrand, insert_errands, remove, resumed},
    error,
    sql::{Sql, all, get, list, parts, row, sql},
};
use crate::json;
use lockwork_core::workflow::{Error, ErrorKind, InstanceId, Result, Status, SubStatus, Time};
use lockwork_flow::State;
use lockwork_runtime::store::{Creation, Held, NewInstance};
use sqlx::SqliteConnection;

/// What is known of an instance, as it is in its row.
pub(super) struct Columns {
    pub(super) state: String,
    pub(super) sub_status: &'static str,
    pub(super) running: bool,
    pub(super) correlation: Option<String>,
    pub(super) finished: Option<i64>,
}

impl Columns {
    pub(super) fn new(state: &State) -> Result<Self> {
        Ok(Self {
            state: json::write(state)?,
            sub_status: name(state.sub_status),
            running: state.sub_status.status() == Status::Running,
            correlation: state.correlation.clone(),
            finished: state.finished.map(Time::as_millis),
        })
    }
}

pub(super) const fn name(sub_status: SubStatus) -> &'static str {
    match sub_status {
        SubStatus::Pending => "pending",
        SubStatus::Executing => "executing",
        SubStatus::Suspended => "suspended",
        SubStatus::Interrupted => "interrupted",
        SubStatus::Finished => "finished",
        SubStatus::Cancelled => "cancelled",
        SubStatus::Faulted => "faulted",
    }
}

pub(super) fn missing(instance: &InstanceId) -> Error {
    Error::new(ErrorKind::NotFound, "there is no such instance").with("instance", instance)
}

/// Creates one if nothing speaks against it.
const CREATE: &str = "INSERT INTO lockwork_instances \
    (id, version_id, sub_status, running, correlation, activation, cancel, created, finished, state, epoch, claim) \
    SELECT $1, $2, $3, $4, $5, $6, coalesce((SELECT cancelled FROM lockwork_errands WHERE id = $11), 0), $7, $8, $9, \
    $14 IS NOT NULL, coalesce($14, '') \
    WHERE NOT EXISTS (SELECT 1 FROM lockwork_keys WHERE key = $10) \
    AND ($11 IS NULL OR EXISTS (SELECT 1 FROM lockwork_errands WHERE id = $11 AND hold = $12)) \
    AND ($6 IS NULL OR NOT EXISTS (SELECT 1 FROM lockwork_instances \
        WHERE activation = $6 AND activation IS NOT NULL AND running)) \
    ON CONFLICT (id) DO NOTHING; \
    INSERT INTO lockwork_refusals SELECT 1 WHERE changes() <> 1;";
const KEY: &str = "INSERT INTO lockwork_keys (key, instance) VALUES ($10, $1);";
const CONSUME: &str = "DELETE FROM lockwork_errands WHERE id = $11 AND hold = $12;";
const ERRAND: &str = insert_errands!("$13");

/// A request as the database is given it.
pub(super) struct Written {
    refusal: Refusal,
    statements: Sql,
}

/// What a request is refused by.
struct Refusal {
    instance: InstanceId,
    activation: Option<String>,
    key: Option<String>,
    consumes: Option<Held>,
    created: Time,
}

impl Written {
    pub(super) fn new(new: NewInstance) -> Result<Self> {
        let columns = Columns::new(&new.state)?;
        let (activation, key, consumes) = (new.activation, new.key, new.consumes);
        let errand = new.errand.into_iter();
        let errand = errand.map(|(errand, until)| NewErrand::held(errand, until));
        let errand: Vec<_> = errand.collect();
        let needed = [
            (true, CREATE),
            (key.is_some(), KEY),
            (!errand.is_empty(), ERRAND),
            (goes_at_once(consumes.as_ref()), CONSUME),
        ];
        let needed = needed.into_iter().filter(|(needed, _)| *needed);
        let needed: Vec<_> = needed.map(|(_, part)| part).collect();
        let statements = parts(&needed)
            .bind(new.state.instance.to_string())
            .bind(new.state.version.to_string())
            .bind(columns.sub_status)
            .bind(columns.running)
            .bind(columns.correlation)
            .bind(activation.clone())
            .bind(new.state.created.as_millis())
            .bind(columns.finished)
            .bind(columns.state)
            .bind(key.clone())
            .bind(consumes.as_ref().map(|held| held.errand.id.clone()))
            .bind(consumes.as_ref().map(|held| held.hold.clone()))
            .bind(list(errand)?)
            .bind(new.claim);
        let refusal = Refusal {
            created: new.state.created,
            instance: new.state.instance,
            activation,
            key,
            consumes,
        };
        Ok(Self {
            refusal,
            statements,
        })
    }
}

/// One that resumes nobody keeps nobody from anything.
fn goes_at_once(consumes: Option<&Held>) -> bool {
    consumes.is_some_and(|held| resumed(held).is_none())
}

/// What became of a request.
pub(super) enum Created {
    /// It exists now, with this to be done.
    New(Option<HeldRow>),
    /// It does not.
    Not(Creation),
}

pub(super) async fn create(connection: &mut SqliteConnection, new: Written) -> Result<Created> {
    let done = match all(connection, new.statements).await {
        Err(refused) if error::is_refusal(&refused) => {
            return refused_because(connection, new.refusal).await;
        }
        done => done.map_err(error::of)?,
    };
    let Refusal {
        consumes, created, ..
    } = new.refusal;
    if let Some(held) = consumes.filter(|held| !goes_at_once(Some(held))) {
        remove(connection, &held, created).await?;
    }
    let errand = done.iter().flat_map(|done| &done.rows).next();
    Ok(Created::New(errand.map(HeldRow::read).transpose()?))
}

/// Why it was not created. A request whose key was known is done with that.
async fn refused_because(connection: &mut SqliteConnection, refusal: Refusal) -> Result<Created> {
    let consumes = refusal.consumes;
    let statement = sql(
        "SELECT (SELECT instance FROM lockwork_keys WHERE key = $2) AS same, \
         EXISTS (SELECT 1 FROM lockwork_instances WHERE id = $1) AS found, \
         (SELECT id FROM lockwork_instances WHERE activation = $3 AND activation IS NOT NULL AND running) AS other, \
         $4 IS NULL OR EXISTS (SELECT 1 FROM lockwork_errands WHERE id = $4 AND hold = $5) AS held",
    );
    let statement = statement
        .bind(refusal.instance.to_string())
        .bind(refusal.key)
        .bind(refusal.activation)
        .bind(consumes.as_ref().map(|held| held.errand.id.clone()))
        .bind(consumes.as_ref().map(|held| held.hold.clone()));
    let row = row(connection, statement).await?;
    let row = row.ok_or_else(|| error::of(sqlx::Error::RowNotFound))?;
    if !get::<bool>(&row, "held")? {
        return Err(error::not_held());
    }
    if let Some(same) = get::<Option<String>>(&row, "same")? {
        if let Some(held) = consumes {
            remove(connection, &held, refusal.created).await?;
        }
        return Ok(Created::Not(Creation::SameKey(InstanceId::new(&same)?)));
    }
    if get(&row, "found")? {
        return Ok(Created::Not(Creation::Exists));
    }
    let other: Option<String> = get(&row, "other")?;
    let other = other.ok_or_else(|| error::of(sqlx::Error::RowNotFound))?;
    Ok(Created::Not(Creation::Refused(InstanceId::new(&other)?)))
}

/// That another instance with the same activation key runs.
pub(super) async fn other(
    connection: &mut SqliteConnection,
    activation: Option<String>,
    instance: &InstanceId,
) -> Result<Option<Error>> {
    let statement = sql(
        "SELECT id FROM lockwork_instances WHERE activation = $1 AND activation IS NOT NULL AND running AND id <> $2",
    );
    let statement = statement.bind(activation).bind(instance.to_string());
    let Some(row) = row(connection, statement).await? else {
        return Ok(None);
    };
    let message = "another instance like this one runs, and one only may";
    let other: String = get(&row, "id")?;
    Ok(Some(
        Error::new(ErrorKind::Conflict, message).with("running", other),
    ))
}
