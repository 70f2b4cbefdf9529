//! What leads to the server: one connection, or those to the nodes of a cluster.

use crate::{
    about::About,
    errors::{refused, unusable},
    options::{Deployment, Options, tcp},
};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::client};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ProtocolVersion, PushInfo, RedisError, RedisResult, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster::ClusterClientBuilder,
    cluster_async::ClusterConnection,
    cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr},
    sentinel::{SentinelClientBuilder, SentinelServerType},
};
use rustls::crypto::CryptoProvider;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// How long a question may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What leads to the server.
#[derive(Clone)]
pub(crate) enum Wire {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// Where what the server says by itself goes, and what it is to say: what is published there.
#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    pub(crate) channel: String,
    pub(crate) pushes: UnboundedSender<PushInfo>,
}

impl Wire {
    /// Connects; if there is something to subscribe to, the server has confirmed it.
    pub(crate) async fn open(options: &Options, listens: Option<&Subscription>) -> Result<Self> {
        if options.certificates().is_some() {
            provide_cryptography();
        }
        let pushes = listens.map(|listens| listens.pushes.clone());
        let mut wire = match &options.deployment {
            // Of a quorum, each server has options of its own.
            Deployment::One | Deployment::Quorum => one(options, pushes).await?,
            Deployment::Cluster => cluster(options, pushes).await?,
            Deployment::Sentinel(name) => by_sentinel(options, name, pushes).await?,
        };
        // For operators only. One who may not do it does without.
        let mut name = redis::cmd("CLIENT");
        name.arg("SETNAME").arg(client::name());
        match wire.call(&name).await {
            Err(error) if error.is_unrecoverable_error() => return Err(refused(error)),
            _ => {}
        }
        About::of(&mut wire).await?.check(&options.deployment)?;
        if let Some(listens) = listens {
            let subscribed = match &mut wire {
                Self::One(connection) => connection.subscribe(&listens.channel).await,
                Self::Cluster(connection) => connection.subscribe(&listens.channel).await,
            };
            subscribed.map_err(refused)?;
        }
        Ok(wire)
    }

    pub(crate) async fn call(&mut self, command: &Cmd) -> RedisResult<Value> {
        let said = match self {
            Self::One(connection) => connection.req_packed_command(command).await,
            Self::Cluster(connection) => connection.req_packed_command(command).await,
        };
        unless_refused(said)
    }

    /// The same, of the primary that has this slot of a cluster, or of any.
    pub(crate) async fn call_at(&mut self, slot: Option<u16>, command: Cmd) -> RedisResult<Value> {
        let Self::Cluster(connection) = self else {
            return self.call(&command).await;
        };
        let node = slot.map_or(SingleNodeRoutingInfo::RandomPrimary, |slot| {
            SingleNodeRoutingInfo::SpecificNode(Route::new(slot, SlotAddr::Master))
        });
        let said = connection.route_command(command, RoutingInfo::SingleNode(node));
        unless_refused(said.await)
    }
}

fn unless_refused(said: RedisResult<Value>) -> RedisResult<Value> {
    said.and_then(|said| match said {
        Value::ServerError(error) => Err(RedisError::from(error)),
        said => Ok(said),
    })
}

fn config(pushes: Option<UnboundedSender<PushInfo>>) -> AsyncConnectionConfig {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    match pushes {
        Some(pushes) => config.set_push_sender(pushes),
        None => config,
    }
}

async fn one(options: &Options, pushes: Option<UnboundedSender<PushInfo>>) -> Result<Wire> {
    let server = options.servers.first().ok_or_else(no_server)?;
    let info = options.connection(server)?;
    let client = match options.certificates() {
        Some(certificates) => Client::build_with_tls(info, certificates.clone()),
        None => Client::open(info),
    };
    let connection = client
        .map_err(unusable)?
        .get_multiplexed_async_connection_with_config(&config(pushes))
        .await;
    connection.map(Wire::One).map_err(refused)
}

async fn cluster(options: &Options, pushes: Option<UnboundedSender<PushInfo>>) -> Result<Wire> {
    let nodes = options.servers.iter().map(|node| options.connection(node));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let mut builder = ClusterClientBuilder::new(nodes)
        .use_protocol(ProtocolVersion::RESP3)
        .connection_timeout(PATIENCE)
        .response_timeout(PATIENCE)
        .tcp_settings(tcp());
    if let Some(certificates) = options.certificates() {
        builder = builder.certs(certificates.clone());
    }
    if let Some(pushes) = pushes {
        builder = builder.push_sender(pushes);
    }
    let client = builder.build().map_err(unusable)?;
    let connection = client.get_async_connection().await;
    connection.map(Wire::Cluster).map_err(refused)
}

async fn by_sentinel(
    options: &Options,
    name: &str,
    pushes: Option<UnboundedSender<PushInfo>>,
) -> Result<Wire> {
    let sentinels = options.servers.iter();
    let sentinels = sentinels.map(|sentinel| options.address(sentinel));
    let session = options.session();
    let builder = SentinelClientBuilder::new(sentinels, name, SentinelServerType::Master);
    let mut builder = builder
        .map_err(refused)?
        .set_client_to_redis_db(session.db())
        .set_client_to_redis_protocol(ProtocolVersion::RESP3)
        .set_client_to_redis_tcp_settings(tcp());
    if let Some(user) = session.username() {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = session.password() {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(certificates) = options.certificates() {
        builder = builder
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates.clone());
    }
    let mut client = builder.build().map_err(unusable)?;
    let config = config(pushes);
    let connection = client.get_async_connection_with_config(&config).await;
    connection.map(Wire::One).map_err(refused)
}

fn no_server() -> Error {
    Error::new(ErrorKind::Invalid, "there is no server in the list")
}

/// The driver asks the process which cryptography to use; unless somebody has said so, this one.
fn provide_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, and then that one it is.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
