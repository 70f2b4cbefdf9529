//! Where a store of a test is: in a file or on a server of its own.

use lockwork::runtime::Store;
use lockwork_servers::{Postgres, Settings};
use sqlx::{AssertSqlSafe, Connection};
use std::sync::Arc;
use tempfile::TempDir;

/// Where a store is. Gone when dropped.
#[derive(Debug)]
pub(crate) enum Place {
    /// A file in a directory.
    Sqlite(TempDir),
    /// A server.
    Postgres(Box<Postgres>),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Self {
        Self::Postgres(Box::new(Postgres::start(Settings::new()).unwrap()))
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(directory) => {
                format!("sqlite:{}", directory.path().join("store.db").display())
            }
            Self::Postgres(server) => format!("{}?sslmode=disable", server.url()),
        }
    }

    /// Fails if a row is left of what comes and goes.
    pub(crate) async fn assert_empty(&self) {
        let left = match self {
            Self::Sqlite(_) => self.rows_in_file().await,
            Self::Postgres(server) => Self::rows_on(server),
        };
        assert!(left.iter().all(|(_, rows)| *rows == 0), "{left:?}");
    }

    async fn rows_in_file(&self) -> Vec<(String, i64)> {
        let mut file = sqlx::SqliteConnection::connect(&self.url()).await.unwrap();
        let mut all = Vec::new();
        for table in [
            "bookmarks",
            "errands",
            "waiting",
            "jobs",
            "tasks",
            "dead_letters",
        ] {
            let count = AssertSqlSafe(format!("SELECT count(*) FROM lockwork_{table}"));
            let rows = sqlx::query_scalar(count).fetch_one(&mut file).await;
            all.push((table.to_owned(), rows.unwrap()));
        }
        all
    }

    fn rows_on(server: &Postgres) -> Vec<(String, i64)> {
        let tables = [
            "bookmark",
            "errand",
            "waiting",
            "job",
            "task",
            "dead_letter",
        ];
        let count = |table: &str| {
            let answer = server.sql(&format!("SELECT count(*) FROM lockwork.{table}"));
            (table.to_owned(), answer.unwrap().trim().parse().unwrap())
        };
        tables.map(count).to_vec()
    }

    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        lockwork::store::connect(&self.url()).await.unwrap()
    }
}
