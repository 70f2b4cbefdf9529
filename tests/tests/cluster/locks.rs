//! A lock server of a test's own, and what can happen to it.

use lockwork_conformance::{
    Proxy,
    sqlserver::{Settings as StandInSettings, StandInProcess},
};
use lockwork_servers::{Azurite, Postgres, Redis, RedisSettings, Settings};
use std::{path::Path, time::Duration};
use tempfile::TempDir;

/// A lock server, behind a network that can be cut.
#[derive(Debug)]
pub(crate) struct LockServer {
    kind: Kind,
    network: Option<Proxy>,
}

#[derive(Debug)]
enum Kind {
    Postgres(Box<Postgres>),
    Redis(Redis),
    SqlServer(Option<StandInProcess>, StandInSettings),
    Azure(Azurite),
    File(TempDir),
}

impl LockServer {
    pub(crate) async fn postgres() -> Self {
        let server = Postgres::start(Settings::new()).unwrap();
        let port = server.port();
        Self::behind(Kind::Postgres(Box::new(server)), port).await
    }

    pub(crate) async fn redis() -> Self {
        let server = Redis::start(RedisSettings::new().durable()).unwrap();
        let port = server.port();
        Self::behind(Kind::Redis(server), port).await
    }

    pub(crate) async fn sqlserver() -> Self {
        let settings = StandInSettings::default();
        let server = stand_in(&settings).await;
        let port = server.address().port();
        Self::behind(Kind::SqlServer(Some(server), settings), port).await
    }

    pub(crate) async fn azure() -> Self {
        let server = Azurite::start().unwrap();
        let port = server.port();
        Self::behind(Kind::Azure(server), port).await
    }

    pub(crate) async fn file() -> Self {
        let kind = Kind::File(tempfile::tempdir().unwrap());
        std::future::ready(Self {
            kind,
            network: None,
        })
        .await
    }

    async fn behind(kind: Kind, port: u16) -> Self {
        let network = Some(Proxy::start(port).await.unwrap());
        Self { kind, network }
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Postgres(_) => "postgres",
            Kind::Redis(_) => "redis",
            Kind::SqlServer(..) => "sqlserver",
            Kind::Azure(_) => "azure",
            Kind::File(_) => "file",
        }
    }

    /// How nodes name it: by the port of the network before it.
    pub(crate) fn url(&self) -> String {
        let port = self.network.as_ref().map_or(0, Proxy::port);
        match &self.kind {
            Kind::Postgres(server) => {
                format!("{}?sslmode=disable", server.url_at("127.0.0.1", port))
            }
            Kind::Redis(server) => server.url_at("127.0.0.1", port),
            Kind::SqlServer(server, _) => {
                let server = server.as_ref().expect("it runs");
                let old = format!(":{}/", server.address().port());
                trusting(&server.url().replace(&old, &format!(":{port}/")))
            }
            Kind::Azure(server) => {
                let old = format!(":{}/", server.port());
                let url = server.url().replace(&old, &format!(":{port}/"));
                format!("{}/locks", url.trim_end_matches('/'))
            }
            Kind::File(directory) => format!("file:{}", directory.path().display()),
        }
    }

    /// What the server makes of a wish for a short lease.
    pub(crate) fn lease(&self, wish: Duration) -> Duration {
        match self.kind {
            Kind::Azure(_) => wish.max(Duration::from_secs(15)),
            _ => wish,
        }
    }

    /// All connections are gone. Says whether there were any to lose.
    pub(crate) fn cut(&self) -> bool {
        self.network
            .as_ref()
            .inspect(|network| network.reset())
            .is_some()
    }

    /// It ends, and is there again. Says whether there is one.
    pub(crate) async fn restart(&mut self) -> bool {
        match &mut self.kind {
            Kind::Postgres(server) => server.restart().unwrap(),
            Kind::Redis(server) => server.restart().unwrap(),
            Kind::Azure(server) => server.restart().unwrap(),
            Kind::SqlServer(server, settings) => {
                server.take().expect("it runs").kill().await;
                let new = stand_in(settings).await;
                if let Some(network) = &self.network {
                    network.redirect(new.address().port());
                    network.reset();
                }
                *server = Some(new);
            }
            Kind::File(_) => return false,
        }
        true
    }

    /// It forgets every lock that anybody holds. Says whether it can.
    pub(crate) async fn empty(&mut self) -> bool {
        match &mut self.kind {
            Kind::Redis(server) => drop(server.ask(&["FLUSHALL"]).unwrap()),
            Kind::Postgres(server) => {
                let all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                           WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
                server.sql(all).unwrap();
            }
            // What it knew was in its memory.
            Kind::SqlServer(..) => return self.restart().await,
            // What it granted is on its disk.
            Kind::Azure(_) => return false,
            Kind::File(directory) => empty(directory.path()),
        }
        true
    }
}

/// One with the objects that the first client makes: a real server has them on its disk after a restart, and this one has
/// none.
async fn stand_in(settings: &StandInSettings) -> StandInProcess {
    let program = Path::new(env!("CARGO_BIN_EXE_sqlserver-standin"));
    let server = StandInProcess::start(program, settings.clone()).await;
    let locks = lockwork::connect(&trusting(&server.url())).await.unwrap();
    locks
        .mutex("first")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    server
}

fn trusting(url: &str) -> String {
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}trust=any")
}

/// Removes all files below a directory.
fn empty(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => empty(&path),
            // Somebody else may have removed it.
            false => drop(std::fs::remove_file(path)),
        }
    }
}
