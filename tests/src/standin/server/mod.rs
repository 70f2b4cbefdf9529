//! The server: on a thread of its own, so that a busy test does not slow it down.

mod connection;
mod faults;
mod leases;
mod lock;
mod sessions;
mod shared;
mod state;
mod tombstones;

use self::{
    connection::Connection,
    shared::{Peer, Shared},
    state::State,
};
use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};
use tokio::{
    net::TcpListener,
    runtime::Builder,
    sync::{mpsc, oneshot},
};

/// A lock server on a port of its own on this machine. Stops when dropped.
///
/// The methods below [`Server::addr`] are the faults it can be told to have, and what can be
/// counted from outside.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Starts one that bears silent sessions for ever.
    ///
    /// # Panics
    /// If the system refuses a port or a thread.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts one that ends a session which has been silent for `limit`.
    ///
    /// # Panics
    /// If the system refuses a port or a thread.
    #[must_use]
    pub fn with_session_timeout(limit: Duration) -> Self {
        Self::start_with(Some(limit))
    }

    fn start_with(session_timeout: Option<Duration>) -> Self {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        listener.set_nonblocking(true).expect("a socket can do so");
        let addr = listener.local_addr().expect("a bound socket has one");
        let shared = Arc::new(Shared::new(session_timeout));
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("standin-server".into())
            .spawn({
                let shared = shared.clone();
                move || run(listener, &shared, stopped)
            })
            .expect("the system has a thread left");
        Self {
            addr,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Closes every connection, and forgets every lease and every waiter. Tokens go on rising.
    ///
    /// The connections are closed soon after this returns; what lived on them is free then.
    pub fn sever_all(&self) {
        self.shared.end_all_connections();
        self.shared.with(State::forget_leases);
    }

    /// Does what the next `count` requests ask, but closes their connections instead of answering.
    /// Pings and subscriptions are not counted.
    pub fn drop_replies(&self, count: usize) {
        self.shared.faults.drop_replies(count);
    }

    /// Answers and hints take so long from now on. What is asked is done at once all the same.
    pub fn delay(&self, delay: Duration) {
        self.shared.faults.set_delay(delay);
    }

    /// Whether to keep hints back.
    pub fn mute_pushes(&self, muted: bool) {
        self.shared.faults.mute(muted);
    }

    /// Whether to do nothing that is asked. Leases and silent sessions run out meanwhile.
    pub fn pause(&self, paused: bool) {
        self.shared.faults.pause(paused);
    }

    /// How many requests it has carried out.
    #[must_use]
    pub fn requests_handled(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// How many owners wait in line, for all locks together.
    #[must_use]
    pub fn waiters_now(&self) -> usize {
        self.shared.with(|state| {
            state.sweep();
            state.waiting()
        })
    }

    /// How many locks somebody has.
    #[must_use]
    pub fn locks_now(&self) -> usize {
        self.shared.with(|state| {
            state.sweep();
            state.held()
        })
    }

    /// How many connections are open.
    #[must_use]
    pub fn connections_now(&self) -> usize {
        self.shared.connections()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(listener: StdListener, shared: &Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("the system has an event queue left");
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("it was bound before");
        tokio::select! {
            () = accept(listener, shared) => {}
            () = shared.sweep() => {}
            _ = stopped => {}
        }
    });
}

async fn accept(listener: TcpListener, shared: &Arc<Shared>) {
    for number in 1.. {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of file handles, say: some may be given back meanwhile.
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (out, replies) = mpsc::unbounded_channel();
        let connection = Connection::new(shared.clone(), number, from, out.clone());
        // It does not run before this function waits again, so it finds itself among its peers.
        let task = tokio::spawn(connection.serve(stream, replies)).abort_handle();
        let subscribed = false;
        shared.join(
            number,
            Peer {
                out,
                task,
                subscribed,
            },
        );
    }
}
