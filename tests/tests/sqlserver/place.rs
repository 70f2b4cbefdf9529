//! Where a case has its locks: a database of its own, or a server.

use crate::{SOON, guest::Guest, within};
use lockwork::{Locks, sqlserver::Options};
use lockwork_conformance::{
    Harness, Proxy,
    backends::sqlserver::{self, Server},
};
use std::{sync::Arc, time::Duration};
use url::Url;

pub(crate) struct Place {
    /// Ends the sessions in the database when it is dropped.
    _harness: Option<Arc<dyn Harness>>,
    pub(crate) server: Server,
    url: String,
    database: String,
}

impl Place {
    /// A database of a SQL Server.
    pub(crate) fn sql_server() -> Self {
        Self::of(sqlserver::start().unwrap())
    }

    /// A server that answers as Babelfish does.
    pub(crate) fn babelfish() -> Self {
        Self::of(sqlserver::babelfish().unwrap())
    }

    fn of(harness: Arc<dyn Harness>) -> Self {
        let url = harness.url().unwrap();
        Self {
            _harness: Some(harness),
            ..Self::at(&url)
        }
    }

    /// The database that `url` names.
    pub(crate) fn at(url: &str) -> Self {
        let parsed = Url::parse(url).unwrap();
        Self {
            _harness: None,
            server: Server::new(url).unwrap(),
            url: url.to_owned(),
            database: parsed.path().trim_start_matches('/').to_owned(),
        }
    }

    /// How clients get there, with further options.
    pub(crate) fn url(&self, options: &str) -> String {
        format!("{}&{options}", self.url)
    }

    /// The same through a proxy.
    pub(crate) fn url_through(&self, proxy: &Proxy, options: &str) -> String {
        self.url_at(proxy.port(), options)
    }

    pub(crate) fn url_at(&self, port: u16, options: &str) -> String {
        let mut url = Url::parse(&self.url(options)).unwrap();
        url.set_port(Some(port)).unwrap();
        url.into()
    }

    /// How somebody else gets there.
    pub(crate) fn url_as(&self, user: &str, password: &str, options: &str) -> String {
        let url = self.server.url_as(user, password, &self.database);
        format!("{url}&{options}")
    }

    /// A proxy in front of it.
    pub(crate) async fn proxy(&self) -> Proxy {
        Proxy::start(self.port()).await.unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        Url::parse(&self.url).unwrap().port().unwrap_or(1433)
    }

    /// A client that passes nothing on among its own tasks.
    pub(crate) async fn client(&self) -> Locks {
        self.client_with("tenure=0s").await
    }

    /// The same with further options.
    pub(crate) async fn client_with(&self, options: &str) -> Locks {
        connect(&self.url(options)).await
    }

    /// How to use the database.
    pub(crate) fn options(&self) -> Options {
        Options::new(self.server.config(&self.database))
    }

    /// Somebody who looks at the database, and at all of the server.
    pub(crate) async fn guest(&self) -> Guest {
        Guest::new(self.server.config(&self.database)).await
    }
}

pub(crate) async fn connect(url: &str) -> Locks {
    let connecting = lockwork::connect(url);
    within(SOON, "a client", connecting).await.unwrap()
}

/// That of clients whose guards are soon over once nothing is heard of the server.
pub(crate) const SHORT_LEASE: &str = "tenure=0s&lease=2s";

/// A moment in which something would have happened if it could.
pub(crate) async fn a_while() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}
