//! The server behind all connections.

use super::{Settings, connection, state::State, tls::Tls};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::{net::TcpListener, sync::Notify, task::JoinSet};

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Settings,
    pub(crate) tls: Option<Tls>,
    state: Mutex<State>,
    over: Notify,
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            tls: Tls::new(&settings),
            state: Mutex::new(State::new(&settings)),
            settings,
            over: Notify::new(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server: SHUTDOWN.
    pub(crate) fn shut_down(&self) {
        self.over.notify_one();
    }
}

/// Serves whoever connects, until the server is shut down. All connections end with it.
pub(crate) async fn serve(server: Arc<Server>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    let _ = stream.set_nodelay(true);
                    connections.spawn(connection::serve(server.clone(), stream, from));
                }
                // Out of file handles, say: some may be given back meanwhile.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            },
            Some(_) = connections.join_next() => {}
            () = server.over.notified() => return,
        }
    }
}
