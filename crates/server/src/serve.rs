//! Connections: taking them, keeping those that ask, and closing those that do not.

use crate::{limits::Limits, state::Node};
use axum::Router;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    collections::VecDeque,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How much of a request is read before it is known to be one.
const HEAD: usize = 64 * 1024;

/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// How long those that are being answered have when a node ends.
const LAST: Duration = Duration::from_secs(5);

/// Takes connections until `stop`, and waits for what is being answered then.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    node: Node,
    stop: CancellationToken,
) {
    let (seats, tasks) = (Arc::new(Seats::default()), TaskTracker::new());
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let seat = seats.take(node.limits.connections);
                let talk = talk(
                    stream,
                    router.clone(),
                    node.limits.clone(),
                    Arc::clone(&seat),
                    stop.clone(),
                );
                let (seats, node) = (Arc::clone(&seats), Arc::clone(&node));
                node.counts.connections.fetch_add(1, Relaxed);
                tasks.spawn(async move {
                    talk.await;
                    seats.leave(&seat);
                    node.counts.connections.fetch_sub(1, Relaxed);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken: trying again");
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(LAST, tasks.wait()).await.is_err() {
        tracing::warn!("some connections were still open when this node ended");
    }
}

async fn talk(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    seat: Arc<Seat>,
    stop: CancellationToken,
) {
    // An answer is written at once; waiting for more of it would only be slow.
    let _ = stream.set_nodelay(true);
    let inner = TowerToHyperService::new(router);
    let asked = Arc::clone(&seat);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let asking = Asking::new(&asked);
        let answer = inner.call(request);
        async move {
            let answer = answer.await;
            drop(asking);
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seat.given_up.cancelled() => return,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended before its time");
    }
}

/// All connections, the oldest first.
#[derive(Debug, Default)]
struct Seats(Mutex<VecDeque<Arc<Seat>>>);

/// One connection.
#[derive(Debug, Default)]
struct Seat {
    /// How many requests of it are under way.
    asking: AtomicUsize,
    /// That it is wanted by somebody else.
    given_up: CancellationToken,
}

impl Seats {
    /// A seat for one more. If there are too many, the oldest that asks for nothing loses its own: whoever opens many
    /// connections and says nothing closes its own in the end, and keeps nobody out.
    fn take(&self, most: usize) -> Arc<Seat> {
        let seat = Arc::new(Seat::default());
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seats.len() >= most {
            let idle = seats.iter().position(|seat| seat.asking.load(Relaxed) == 0);
            if let Some(idle) = idle.and_then(|at| seats.remove(at)) {
                idle.given_up.cancel();
            }
        }
        seats.push_back(Arc::clone(&seat));
        seat
    }

    fn leave(&self, seat: &Arc<Seat>) {
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|one| !Arc::ptr_eq(one, seat));
    }
}

/// A request under way.
struct Asking(Arc<Seat>);

impl Asking {
    fn new(seat: &Arc<Seat>) -> Self {
        seat.asking.fetch_add(1, Relaxed);
        Self(Arc::clone(seat))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_asks_for_nothing_loses_its_seat() {
        let seats = Seats::default();
        let (first, second) = (seats.take(2), seats.take(2));
        let asking = Asking::new(&first);
        let third = seats.take(2);
        assert!(!first.given_up.is_cancelled(), "it is being answered");
        assert!(second.given_up.is_cancelled());
        drop(asking);
        seats.leave(&third);
        let _fourth = seats.take(2);
        assert!(!first.given_up.is_cancelled(), "there was room");
    }
}
