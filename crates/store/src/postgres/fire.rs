//! Timers and schedules.

use super::{
    errors::Trouble,
    pool::Operation,
    rows::Row,
    statements::{Statements, ask_as, row},
    text::{hash, millis},
};
use crate::json;
use lockwork_core::workflow::{
    BookmarkId, DefinitionId, InstanceId, NodeId, Result, Time, VersionId,
};
use lockwork_flow::Schedule;
use lockwork_runtime::store::{Timer, TimerKind, TriggerRow, derived};
use sqlx::PgConnection;

/// Makes errands of whatever is due.
pub(super) struct Firing {
    pub(super) now: Time,
    pub(super) limit: i64,
}

row! {
    struct FiredRow {
        o_fired: i32,
        o_definition: Option<String>,
        o_ordinal: Option<i32>,
        o_version: Option<String>,
        o_node: Option<String>,
        o_hash: Option<Vec<u8>>,
        o_schedule: Option<String>,
        o_next: Option<i64>,
    }
}

/// Schedules that are due, column by column, with what becomes of them.
#[derive(Debug, Default)]
struct Due {
    definitions: Vec<String>,
    ordinals: Vec<i32>,
    versions: Vec<String>,
    old: Vec<i64>,
    new: Vec<Option<i64>>,
    /// None for those that are damaged: they are only moved.
    ids: Vec<Option<String>>,
    instances: Vec<Option<String>>,
    bodies: Vec<Option<String>>,
}

impl Due {
    fn add(&mut self, row: FiredRow, now: Time) {
        // The first row is not about one.
        let (Some(definition), Some(version), Some(old)) =
            (&row.o_definition, &row.o_version, row.o_next)
        else {
            return;
        };
        // One that is damaged keeps nobody from the others, and does not come again.
        let fired = row.fired(definition, version, Time::from_millis(old), now);
        let fired = fired.inspect_err(|error| {
            tracing::error!(%error, "a schedule cannot be read and does not start anything: publish its workflow again");
        });
        let (new, errand) = fired.map_or((None, None), |(new, errand)| (new, Some(errand)));
        self.definitions.push(definition.clone());
        self.ordinals.push(row.o_ordinal.unwrap_or_default());
        self.versions.push(version.clone());
        self.old.push(old);
        self.new.push(new.map(millis));
        let (id, instance, body) = match errand {
            Some(errand) => (Some(errand.id), errand.instance, errand.body),
            None => (None, None, None),
        };
        self.ids.push(id);
        self.instances.push(instance);
        self.bodies.push(body);
    }
}

impl FiredRow {
    /// When a schedule comes again, and what is to be done now.
    fn fired(
        &self,
        definition: &str,
        version: &str,
        at: Time,
        now: Time,
    ) -> Result<(Option<Time>, Row)> {
        let schedule = self.o_schedule.as_deref().unwrap_or_default();
        let schedule: Schedule = json::read("trigger", &definition, schedule)?;
        let trigger = TriggerRow {
            node: NodeId::new(self.o_node.as_deref().unwrap_or_default())?,
            hash: hash(self.o_hash.as_deref().unwrap_or_default())?,
            schedule: None,
            next: None,
        };
        let (id, version) = (DefinitionId::new(definition)?, VersionId::new(version)?);
        let errand = derived::scheduled(&id, &version, &trigger, at);
        Ok((derived::next_after(&schedule, at, now), Row::of(&errand)?))
    }
}

impl Operation for Firing {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let fire = ask_as::<FiredRow>(&sql.fire);
        let fire = fire.bind(millis(self.now)).bind(self.limit);
        let mut due = Due::default();
        let mut fired = 0;
        for row in fire.fetch_all(&mut *at).await? {
            fired += row.o_fired;
            due.add(row, self.now);
        }
        if !due.ids.is_empty() {
            // When they come again is known here only; whoever is first has fired them.
            let schedule = ask_as::<(i32,)>(&sql.schedule)
                .bind(&due.definitions)
                .bind(&due.ordinals)
                .bind(&due.versions)
                .bind(&due.old)
                .bind(&due.new)
                .bind(&due.ids)
                .bind(&due.instances)
                .bind(&due.bodies);
            fired += schedule.fetch_one(at).await?.0;
        }
        Ok(usize::try_from(fired).unwrap_or_default())
    }

    fn rings(fired: &usize) -> bool {
        *fired > 0
    }
}

/// So many of those that come next.
pub(super) struct Coming(pub(super) i64);

type ComingRow = (i64, bool, String, String);

impl Operation for Coming {
    type Out = Vec<Timer>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let timers = ask_as::<ComingRow>(&sql.timers).bind(self.0);
        let rows = timers.fetch_all(at).await?.into_iter();
        Ok(rows.map(timer).collect::<Result<_>>()?)
    }
}

fn timer((due, starts, first, second): ComingRow) -> Result<Timer> {
    let kind = match starts {
        true => TimerKind::Start {
            definition: DefinitionId::new(&first)?,
            node: NodeId::new(&second)?,
        },
        false => TimerKind::Resume {
            bookmark: BookmarkId::new(&first)?,
            instance: InstanceId::new(&second)?,
        },
    };
    let due = Time::from_millis(due);
    Ok(Timer { due, kind })
}
