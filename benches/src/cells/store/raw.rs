//! The least that a program could write down on PostgreSQL, by the plain driver.

use super::{
    clients::{self, CLIENTS, Doing, all, two_threads},
    cpu::Server,
};
use crate::{
    cell::{Outcome, Turns},
    cells::postgres,
};
use std::sync::Arc;
use tokio_postgres::{Client, Statement};

/// As long as the state of an instance with three variables.
const STATE: usize = 600;

const TABLES: &str = "CREATE TABLE IF NOT EXISTS raw_instance \
                      (id text PRIMARY KEY, version bigint NOT NULL, state text NOT NULL); \
                      CREATE TABLE IF NOT EXISTS raw_bookmark (id text PRIMARY KEY, instance text NOT NULL, \
                      hash text NOT NULL); CREATE INDEX IF NOT EXISTS raw_hash ON raw_bookmark (hash)";

/// A connection, and what is prepared on it.
struct Connection {
    client: Client,
    insert: Statement,
    update: Statement,
    resume: Statement,
}

impl Connection {
    async fn open() -> Outcome<Self> {
        let client = postgres::client(postgres::url()?).await?;
        let prepare = async |text| client.prepare(text).await;
        let insert = prepare("INSERT INTO raw_instance VALUES ($1, 0, $2)").await?;
        let update =
            prepare("UPDATE raw_instance SET version = version + 1, state = $2 WHERE id = $1")
                .await?;
        let resume = prepare(
            "WITH gone AS (DELETE FROM raw_bookmark WHERE id = $1) \
             UPDATE raw_instance SET version = version + 1, state = $2 WHERE id = $1",
        )
        .await?;
        Ok(Self {
            client,
            insert,
            update,
            resume,
        })
    }

    async fn four_commits(&self, id: &str) -> Outcome<()> {
        let state = "x".repeat(STATE);
        self.client.execute(&self.insert, &[&id, &state]).await?;
        for _ in 0..3 {
            let changed = self.client.execute(&self.update, &[&id, &state]).await?;
            one(changed)?;
        }
        Ok(())
    }

    async fn resume(&self, id: &str) -> Outcome<()> {
        let state = "y".repeat(STATE);
        one(self.client.execute(&self.resume, &[&id, &state]).await?)
    }
}

fn one(changed: u64) -> Outcome<()> {
    match changed {
        1 => Ok(()),
        other => Err(format!("one row should have changed, and {other} have").into()),
    }
}

type Connections = Arc<Vec<Connection>>;

async fn connections() -> Outcome<Connections> {
    let client = postgres::client(postgres::url()?).await?;
    client.batch_execute(TABLES).await?;
    let mut all = Vec::new();
    for _ in 0..CLIENTS {
        all.push(Connection::open().await?);
    }
    Ok(Arc::new(all))
}

/// One row and three changes of it.
pub(super) fn four_commits() -> Outcome<Turns> {
    let threads = two_threads()?;
    let connections = threads.block_on(connections())?;
    Ok(Box::new(move |operations| {
        threads.block_on(clients::timed(operations, each(&connections)))
    }))
}

/// The same by what the processor does.
pub(super) fn four_commits_cpu() -> Outcome<Turns> {
    let threads = two_threads()?;
    let (server, connections) =
        threads.block_on(async { Outcome::Ok((Server::find().await?, connections().await?)) })?;
    Ok(Box::new(move |operations| {
        let before = server.with_us()?;
        threads.block_on(all(operations, each(&connections)))?;
        let used = server.with_us()?.saturating_sub(before);
        Ok(vec![used.as_nanos() as f64 / operations as f64])
    }))
}

fn each(connections: &Connections) -> impl Fn(usize, u64) -> Doing + Clone + use<> {
    let connections = Arc::clone(connections);
    move |client, _| {
        let connections = Arc::clone(&connections);
        Box::pin(async move {
            let id = format!("{:032x}", rand::random::<u128>());
            connections[client].four_commits(&id).await
        })
    }
}

/// Rows that wait are changed, and their bookmarks removed with that.
pub(super) fn resume() -> Outcome<Turns> {
    let threads = two_threads()?;
    let connections = threads.block_on(connections())?;
    Ok(Box::new(move |operations| {
        let turn = format!("{:032x}", rand::random::<u128>());
        threads.block_on(place(&connections, &turn, operations))?;
        let (connections, turn) = (Arc::clone(&connections), Arc::new(turn));
        threads.block_on(clients::timed(operations, move |client, number| {
            let (connections, turn) = (Arc::clone(&connections), Arc::clone(&turn));
            async move {
                connections[client]
                    .resume(&format!("{turn}-{number}"))
                    .await
            }
        }))
    }))
}

/// So many rows with a bookmark each.
async fn place(connections: &Connections, turn: &str, count: u64) -> Outcome<()> {
    let text = format!(
        "INSERT INTO raw_instance SELECT '{turn}-' || n, 0, repeat('x', {STATE}) FROM generate_series(0, {count}) n; \
         INSERT INTO raw_bookmark SELECT '{turn}-' || n, '{turn}-' || n, md5(n::text) FROM generate_series(0, {count}) n"
    );
    Ok(connections[0].client.batch_execute(&text).await?)
}
