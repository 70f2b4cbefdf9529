//! Connecting, and asking.

use crate::{
    errors::{not_let_in, refused, unreachable},
    wire::Wire,
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use tiberius::{Client, Config, Row, ToSql};

/// A gateway sends on to a node, and a node may send on once more.
const HOPS: usize = 3;

/// A connection.
pub(crate) struct Link {
    client: Client<Wire>,
    wire: Wire,
}

impl Link {
    pub(crate) async fn to(config: &Config) -> Result<Self> {
        let mut config = config.clone();
        let mut hops = 0;
        loop {
            let wire = Wire::to(&config.get_addr()).await.map_err(unreachable)?;
            match Box::pin(Client::connect(config.clone(), wire.clone())).await {
                Ok(client) => return Ok(Self { client, wire }),
                Err(tiberius::error::Error::Routing { host, port }) if hops < HOPS => {
                    config.host(host);
                    config.port(port);
                    hops += 1;
                }
                Err(error) => return Err(not_let_in(error)),
            }
        }
    }

    /// All rows of the last result of `text`.
    pub(crate) async fn rows(
        &mut self,
        text: &str,
        values: &[&dyn ToSql],
    ) -> tiberius::Result<Vec<Row>> {
        let results = self
            .client
            .query(text, values)
            .await?
            .into_results()
            .await?;
        Ok(results.into_iter().next_back().unwrap_or_default())
    }

    /// Runs a text that stands alone.
    pub(crate) async fn run(&mut self, text: &str) -> tiberius::Result<()> {
        self.client
            .simple_query(text)
            .await?
            .into_results()
            .await
            .map(drop)
    }

    /// The one row that `text` has.
    pub(crate) async fn row(&mut self, text: &str, values: &[&dyn ToSql]) -> Result<Row> {
        let rows = self.rows(text, values).await.map_err(refused)?;
        rows.into_iter().next().ok_or_else(nothing)
    }

    /// Calls off what was asked and not read to its end.
    pub(crate) async fn cancel(&mut self) -> Result<()> {
        self.client.cancel_query().await.map_err(refused)
    }

    /// Returns when the server has closed the connection.
    pub(crate) async fn closed(&self) {
        self.wire.closed().await;
    }
}

pub(crate) fn nothing() -> Error {
    let message = "SQL Server answered with something lockwork does not know: report it";
    Error::new(ErrorKind::Unexpected, message)
}
