//! Somebody who talks to the server without lockwork.

use crate::{SOON, within};
use lockwork::sqlserver::tiberius::{self, Client, Command, Config, Row};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

pub(crate) struct Guest {
    pub(crate) client: Client<Compat<TcpStream>>,
}

/// Application locks of the database.
const LOCKS: &str = "FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' \
                     AND resource_database_id = DB_ID()";

impl Guest {
    pub(crate) async fn new(config: Config) -> Self {
        let stream = TcpStream::connect(config.get_addr()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let connecting = Box::pin(Client::connect(config, stream.compat_write()));
        let client = within(SOON, "a connection", connecting).await.unwrap();
        Self { client }
    }

    /// All rows of the last result of a batch.
    pub(crate) async fn try_rows(&mut self, sql: &str) -> tiberius::Result<Vec<Row>> {
        let asking = async {
            let results = self.client.simple_query(sql).await?.into_results().await?;
            Ok(results.into_iter().next_back().unwrap_or_default())
        };
        within(SOON, sql, asking).await
    }

    pub(crate) async fn rows(&mut self, sql: &str) -> Vec<Row> {
        let rows = self.try_rows(sql).await;
        rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) async fn run(&mut self, sql: &str) {
        self.rows(sql).await;
    }

    /// The first value of the last result.
    pub(crate) async fn int(&mut self, sql: &str) -> i32 {
        let rows = self.rows(sql).await;
        rows[0].get(0).unwrap_or_else(|| panic!("{sql}: NULL"))
    }

    /// The first value of each row of the last result.
    async fn ints(&mut self, sql: &str) -> Vec<i32> {
        let rows = self.rows(sql).await;
        rows.iter().map(|row| row.get(0).unwrap()).collect()
    }

    /// How many application locks are held.
    pub(crate) async fn held(&mut self) -> i32 {
        let sql = format!("SELECT COUNT(*) {LOCKS} AND request_status = 'GRANT'");
        self.int(&sql).await
    }

    /// How many wait for one.
    pub(crate) async fn waiting(&mut self) -> i32 {
        let sql = format!("SELECT COUNT(*) {LOCKS} AND request_status <> 'GRANT'");
        self.int(&sql).await
    }

    /// The sessions that hold or wait for one.
    pub(crate) async fn sessions_that(&mut self, hold: bool) -> Vec<i32> {
        let sign = if hold { "=" } else { "<>" };
        let sql = format!(
            "SELECT DISTINCT CONVERT(int, request_session_id) {LOCKS} \
             AND request_status {sign} 'GRANT'"
        );
        self.ints(&sql).await
    }

    /// From which ports they come: a number of a session is soon another's.
    pub(crate) async fn ports_that(&mut self, hold: bool) -> Vec<i32> {
        let sessions = self.sessions_that(hold).await;
        let mut ports = Vec::new();
        for session in sessions {
            let sql = format!(
                "SELECT client_tcp_port FROM sys.dm_exec_connections WHERE session_id = {session}"
            );
            ports.extend(self.ints(&sql).await);
        }
        ports
    }

    /// How many connections lockwork has to the database.
    pub(crate) async fn connections(&mut self) -> i32 {
        let sql = "SELECT COUNT(*) FROM sys.dm_exec_sessions \
                   WHERE database_id = DB_ID() AND program_name LIKE 'lockwork/%'";
        self.int(sql).await
    }

    /// Waits until so many wait for a lock.
    pub(crate) async fn until_waiting(&mut self, count: i32) {
        within(SOON, "somebody to wait", async {
            while self.waiting().await != count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }

    /// Waits until somebody waits for a lock who comes from another port than these, and nobody else.
    pub(crate) async fn until_another_waits(&mut self, before: &[i32]) {
        let is_other = |now: &[i32]| !now.is_empty() && !now.iter().any(|it| before.contains(it));
        within(SOON, "another session to wait", async {
            while !is_other(&self.ports_that(false).await) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }

    /// Waits until nobody holds a lock or waits for one.
    pub(crate) async fn until_nothing_is_left(&mut self) {
        within(SOON, "nothing to be left", async {
            while (self.held().await, self.waiting().await) != (0, 0) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }

    /// Ends sessions.
    pub(crate) async fn kill(&mut self, sessions: &[i32]) {
        for session in sessions {
            self.run(&format!("KILL {session}")).await;
        }
    }

    /// Asks for a lock of this session; the code it gets.
    pub(crate) async fn get(&mut self, resource: &str, mode: &str, timeout: i32) -> i32 {
        let resource = resource.replace('\'', "''");
        let sql = format!(
            "DECLARE @r int; EXEC @r = sp_getapplock @Resource = N'{resource}', \
             @LockMode = '{mode}', @LockOwner = 'Session', @LockTimeout = {timeout}; SELECT @r"
        );
        self.int(&sql).await
    }

    pub(crate) async fn release(&mut self, resource: &str) {
        let sql = format!("EXEC sp_releaseapplock N'{resource}', 'Session'");
        self.run(&sql).await;
    }

    /// Asks for a lock of this session as .NET's DistributedLock does.
    pub(crate) async fn get_as_dot_net(&mut self, resource: &str, mode: &str, timeout: i32) -> i32 {
        let mut command = Command::new("dbo.sp_getapplock");
        command.bind_param("@Resource", resource.to_owned());
        command.bind_param("@LockMode", mode.to_owned());
        command.bind_param("@LockOwner", "Session");
        command.bind_param("@LockTimeout", timeout);
        let result = within(SOON, "a call", command.exec(&mut self.client)).await;
        let result = result.unwrap().into_command_result().await.unwrap();
        result.return_code().cast_signed()
    }

    pub(crate) async fn release_as_dot_net(&mut self, resource: &str) {
        let mut command = Command::new("dbo.sp_releaseapplock");
        command.bind_param("@Resource", resource.to_owned());
        command.bind_param("@LockOwner", "Session");
        let result = within(SOON, "a call", command.exec(&mut self.client)).await;
        let result = result.unwrap().into_command_result().await.unwrap();
        assert_eq!(result.return_code(), 0);
    }
}
