//! Who shares the store, and what they agree on.

use super::{
    SqliteStore,
    sql::{change, get, int, list, number, row, rows, sql, time},
};
use crate::json;
use lockwork_core::workflow::{Answer, InstanceId, Result, Time};
use lockwork_runtime::store::{NodeRow, NodeStore};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

fn node(row: &SqliteRow) -> Result<NodeRow> {
    let name: String = get(row, "name")?;
    Ok(NodeRow {
        running: json::read("lockwork_nodes", &name, get(row, "running")?)?,
        name,
        since: time(row, "since")?,
        beat: time(row, "beat")?,
        until: time(row, "until")?,
        bursts: number(row, "bursts")?.try_into().unwrap_or(u32::MAX),
    })
}

async fn beat(connection: &mut SqliteConnection, node: NodeRow) -> Result<()> {
    let statement = sql(
        "INSERT OR REPLACE INTO lockwork_nodes (name, since, beat, until, bursts, running) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    );
    let statement = statement
        .bind(node.name)
        .bind(node.since.as_millis())
        .bind(node.beat.as_millis())
        .bind(node.until.as_millis())
        .bind(int(node.bursts))
        .bind(list(&node.running)?);
    change(connection, statement).await.map(drop)
}

async fn parts(connection: &mut SqliteConnection, first: u32) -> Result<u32> {
    let statement = sql(
        "INSERT OR IGNORE INTO lockwork_meta (key, value) VALUES ('parts', max($1, 1)); \
                         SELECT value FROM lockwork_meta WHERE key = 'parts'",
    );
    let found = row(connection, statement.bind(int(first))).await?;
    let found = found.map_or(Ok(1), |row| number(&row, "value"))?;
    Ok(found.try_into().unwrap_or(u32::MAX))
}

impl NodeStore for SqliteStore {
    fn beat(&self, node: NodeRow) -> Answer<'_, ()> {
        Box::pin(self.hold(move |connection| Box::pin(beat(connection, node))))
    }

    fn nodes(&self) -> Answer<'_, Vec<NodeRow>> {
        Box::pin(async move {
            let statement = sql("SELECT * FROM lockwork_nodes ORDER BY name");
            let rows = rows(&mut *self.reader().await?, statement).await?;
            rows.iter().map(node).collect()
        })
    }

    fn forget_nodes(&self, before: Time) -> Answer<'_, usize> {
        let statement = sql("DELETE FROM lockwork_nodes WHERE until < $1").bind(before.as_millis());
        Box::pin(async move {
            let forgotten = self.hold(move |connection| Box::pin(change(connection, statement)));
            Ok(forgotten.await?.try_into().unwrap_or(usize::MAX))
        })
    }

    fn parts(&self, first: u32) -> Answer<'_, u32> {
        Box::pin(self.write(move |connection| Box::pin(parts(connection, first))))
    }

    fn to_be_ended<'a>(&'a self, instances: &'a [InstanceId]) -> Answer<'a, Vec<InstanceId>> {
        Box::pin(async move {
            let statement = sql(
                "SELECT id FROM lockwork_instances WHERE cancel AND running \
                 AND id IN (SELECT value FROM json_each($1))",
            );
            let statement = statement.bind(list(instances)?);
            let rows = rows(&mut *self.reader().await?, statement).await?;
            rows.iter()
                .map(|row| InstanceId::new(get(row, "id")?))
                .collect()
        })
    }
}
