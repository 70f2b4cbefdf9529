//! The least that a program could write down in SQLite: one writer, and whatever waits shares its next commit.

use super::clients::{self, two_threads};
use crate::{
    cell::{Outcome, Turns},
    cells::directory,
};
use rusqlite::Connection;
use std::{path::Path, sync::mpsc};
use tokio::sync::oneshot;

/// As long as the state of an instance with three variables.
const STATE: usize = 600;

const INSERT: &str = "INSERT INTO raw_instance VALUES (?1, 0, ?2)";
const UPDATE: &str = "UPDATE raw_instance SET version = version + 1, state = ?2 WHERE id = ?1";

/// One statement for one row, and whoever waits until it is on the disk.
struct Write {
    text: &'static str,
    id: String,
    done: oneshot::Sender<()>,
}

/// One row and three changes of it, each answered after its commit.
pub(super) fn four_commits() -> Outcome<Turns> {
    let (threads, directory) = (two_threads()?, directory()?);
    let (writer, writes) = mpsc::channel();
    let connection = open(&directory.path().join("raw.db"))?;
    std::thread::spawn(move || write(&connection, &writes));
    Ok(Box::new(move |operations| {
        let (_stays, writer) = (&directory, writer.clone());
        threads.block_on(clients::timed(operations, move |_, _| {
            let writer = writer.clone();
            async move {
                let id = format!("{:032x}", rand::random::<u128>());
                for text in [INSERT, UPDATE, UPDATE, UPDATE] {
                    let (done, is_done) = oneshot::channel();
                    let id = id.clone();
                    writer.send(Write { text, id, done })?;
                    is_done.await?;
                }
                Ok(())
            }
        }))
    }))
}

fn open(file: &Path) -> Outcome<Connection> {
    let connection = Connection::open(file)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         CREATE TABLE raw_instance (id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID",
    )?;
    Ok(connection)
}

/// Until nobody is left who could want something. An error ends it too: whoever waits is told so by that.
fn write(connection: &Connection, writes: &mpsc::Receiver<Write>) -> Outcome<()> {
    let state = "x".repeat(STATE);
    while let Ok(first) = writes.recv() {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let together = std::iter::once(first).chain(writes.try_iter().take(255));
        let mut done = Vec::new();
        for write in together {
            let mut statement = connection.prepare_cached(write.text)?;
            statement.execute((&write.id, &state))?;
            done.push(write.done);
        }
        connection.execute_batch("COMMIT")?;
        // That nobody waits any more is their business.
        for done in done {
            let _ = done.send(());
        }
    }
    Ok(())
}
