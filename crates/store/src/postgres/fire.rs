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
    ids: Vec<String>,
    instances: Vec<Option<String>>,
    bodies: Vec<Option<String>>,
}

impl Due {
    fn add(&mut self, row: FiredRow, now: Time) -> Result<()> {
        // The first row is not about one.
        let (Some(definition), Some(version), Some(next)) =
            (row.o_definition, row.o_version, row.o_next)
        else {
            return Ok(());
        };
        let at = Time::from_millis(next);
        let schedule = row.o_schedule.unwrap_or_default();
        let schedule: Schedule = json::read("trigger", &definition, &schedule)?;
        let trigger = TriggerRow {
            node: NodeId::new(&row.o_node.unwrap_or_default())?,
            hash: hash(&row.o_hash.unwrap_or_default())?,
            schedule: None,
            next: None,
        };
        let id = DefinitionId::new(&definition)?;
        let errand = derived::scheduled(&id, &VersionId::new(&version)?, &trigger, at);
        let errand = Row::of(&errand)?;
        self.definitions.push(definition);
        self.ordinals.push(row.o_ordinal.unwrap_or_default());
        self.versions.push(version);
        self.old.push(next);
        self.new
            .push(derived::next_after(&schedule, at, now).map(millis));
        self.ids.push(errand.id);
        self.instances.push(errand.instance);
        self.bodies.push(errand.body);
        Ok(())
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
            due.add(row, self.now)?;
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
