//! A server in this process, on a thread of its own.

use super::{Server, Settings, server::serve};
use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    sync::Arc,
    thread,
};
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot};

/// A running stand-in. Ends when dropped, without a last word to anybody.
#[derive(Debug)]
pub struct StandIn {
    address: SocketAddr,
    settings: Settings,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl StandIn {
    /// Starts one.
    ///
    /// # Panics
    /// If the system refuses a port or a thread, or a certificate cannot be read.
    #[must_use]
    pub fn start(settings: Settings) -> Self {
        let listener =
            StdListener::bind((Ipv4Addr::LOCALHOST, settings.port)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket can do so");
        let address = listener.local_addr().expect("a bound socket has one");
        let (stop, stopped) = oneshot::channel();
        let server = Arc::new(Server::new(settings.clone()));
        let thread = thread::Builder::new()
            .name("sqlserver-standin".into())
            // Statements are in one another, and what runs them too.
            .stack_size(16 << 20)
            .spawn(move || run(listener, server, stopped))
            .expect("the system has a thread left");
        Self {
            address,
            settings,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The password of `sa`.
    #[must_use]
    pub fn password(&self) -> &str {
        self.settings.password()
    }

    /// The URL of its database `master` for `sa`.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address, self.password())
    }

    /// Waits until it ends by itself: after SHUTDOWN.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Whether it has ended by itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread
            .as_ref()
            .is_none_or(thread::JoinHandle::is_finished)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(listener: StdListener, server: Arc<Server>, stopped: oneshot::Receiver<()>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("the system has an event queue left");
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("it was bound before");
        tokio::select! {
            () = serve(server, listener) => {}
            _ = stopped => {}
        }
    });
}

/// The URL of a server for `sa`, with whatever a URL cannot have as it is written in percents.
pub(super) fn url(address: SocketAddr, password: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let password: String = password
        .bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    format!("sqlserver://sa:{password}@{address}/master")
}
