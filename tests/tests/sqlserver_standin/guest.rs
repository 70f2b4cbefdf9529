//! A client of the server.

use lockwork_conformance::{
    sqlserver::{Settings, StandIn},
    within,
};
use std::{net::SocketAddr, time::Duration};
use tiberius::{AuthMethod, Client, Config, EncryptionLevel, Row, error::TokenError};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

/// What anything must happen within.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// A server with the usual settings.
pub(crate) fn server() -> StandIn {
    StandIn::start(Settings::new())
}

pub(crate) type Connection = Client<Compat<TcpStream>>;

/// How to connect as `sa`, without encryption.
pub(crate) fn config(address: SocketAddr, password: &str) -> Config {
    let mut config = Config::new();
    config.host(address.ip());
    config.port(address.port());
    config.authentication(AuthMethod::sql_server("sa", password));
    config.encryption(EncryptionLevel::NotSupported);
    config.application_name("a test");
    config
}

pub(crate) async fn connect(config: Config) -> tiberius::Result<Connection> {
    let stream = TcpStream::connect(config.get_addr()).await?;
    stream.set_nodelay(true)?;
    let connecting = Box::pin(Client::connect(config, stream.compat_write()));
    within(SOON, "a connection", connecting).await
}

/// A connection, and questions to ask.
pub(crate) struct Guest {
    pub(crate) client: Connection,
}

impl Guest {
    /// `sa`, in `master`.
    pub(crate) async fn of(server: &StandIn) -> Self {
        let config = config(server.address(), server.password());
        Self {
            client: connect(config).await.unwrap(),
        }
    }

    /// Somebody else.
    pub(crate) async fn named(
        server: &StandIn,
        user: &str,
        password: &str,
        database: &str,
    ) -> Self {
        Self::try_named(server, user, password, database)
            .await
            .unwrap()
    }

    pub(crate) async fn try_named(
        server: &StandIn,
        user: &str,
        password: &str,
        database: &str,
    ) -> tiberius::Result<Self> {
        let mut config = config(server.address(), server.password());
        config.authentication(AuthMethod::sql_server(user, password));
        config.database(database);
        let client = connect(config).await?;
        Ok(Self { client })
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

    /// The first value of the last result, as a number.
    pub(crate) async fn int(&mut self, sql: &str) -> i32 {
        let rows = self.rows(sql).await;
        rows[0].get(0).unwrap_or_else(|| panic!("{sql}: NULL"))
    }

    pub(crate) async fn big(&mut self, sql: &str) -> i64 {
        let rows = self.rows(sql).await;
        rows[0].get(0).unwrap_or_else(|| panic!("{sql}: NULL"))
    }

    pub(crate) async fn small(&mut self, sql: &str) -> i16 {
        let rows = self.rows(sql).await;
        rows[0].get(0).unwrap_or_else(|| panic!("{sql}: NULL"))
    }

    pub(crate) async fn text(&mut self, sql: &str) -> String {
        let rows = self.rows(sql).await;
        let text: Option<&str> = rows[0].get(0);
        text.unwrap_or_else(|| panic!("{sql}: NULL")).to_owned()
    }

    /// The error that a batch ends with.
    pub(crate) async fn error(&mut self, sql: &str) -> TokenError {
        match self.try_rows(sql).await {
            Err(tiberius::error::Error::Server(error)) => error,
            other => panic!("{sql}: {other:?}"),
        }
    }

    pub(crate) async fn session(&mut self) -> i16 {
        self.small("SELECT @@SPID").await
    }

    /// Asks for a lock of this session; the code it gets.
    pub(crate) async fn get(&mut self, resource: &str, mode: &str, timeout: i32) -> i32 {
        self.int(&getting(resource, mode, timeout)).await
    }

    pub(crate) async fn release(&mut self, resource: &str) -> i32 {
        self.int(&format!(
            "DECLARE @r int; EXEC @r = sp_releaseapplock N'{resource}', 'Session'; SELECT @r"
        ))
        .await
    }

    pub(crate) async fn mode(&mut self, resource: &str) -> String {
        self.text(&format!(
            "SELECT APPLOCK_MODE('public', N'{resource}', 'Session')"
        ))
        .await
    }

    /// How many wait for something.
    pub(crate) async fn waiters(&mut self) -> i32 {
        self.int("SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_status <> 'GRANT'")
            .await
    }

    /// Waits until so many wait.
    pub(crate) async fn until_waiting(&mut self, count: i32) {
        within(SOON, "somebody to wait", async {
            while self.waiters().await != count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}

/// The text that asks for a lock of the session.
pub(crate) fn getting(resource: &str, mode: &str, timeout: i32) -> String {
    format!(
        "DECLARE @r int; EXEC @r = sp_getapplock @Resource = N'{resource}', @LockMode = '{mode}', \
         @LockOwner = 'Session', @LockTimeout = {timeout}; SELECT @r"
    )
}

/// Asks for a lock in a task of its own, and gives the client back with the code.
pub(crate) fn asking(
    mut guest: Guest,
    resource: &str,
    mode: &str,
    timeout: i32,
) -> tokio::task::JoinHandle<(i32, Guest)> {
    let sql = getting(resource, mode, timeout);
    tokio::spawn(async move { (guest.int(&sql).await, guest) })
}
