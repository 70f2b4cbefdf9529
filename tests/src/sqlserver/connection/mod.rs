//! One connection: from the first message to its end.

mod login;
mod requests;
mod transport;

use super::Server;
use std::{net::SocketAddr, sync::Arc};
use tokio::net::TcpStream;

/// Serves a connection until it ends. What it does wrong ends it.
pub(crate) async fn serve(server: Arc<Server>, stream: TcpStream, from: SocketAddr) {
    let Ok(Some(opened)) = login::open(&server, stream, from).await else {
        return;
    };
    requests::serve(server, opened).await;
}
