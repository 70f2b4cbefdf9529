//! Connections: taking them, keeping those that ask, and closing those that do not.

use crate::{
    patience::Patience,
    seats::{Seated, Seats},
    state::Node,
};
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
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How much of a request is read before it is known to be one.
const HEAD: usize = 64 * 1024;

/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// How long those that are being answered have when a node ends.
const LAST: Duration = Duration::from_secs(5);

/// When connections end that others do not close.
#[derive(Clone, Debug)]
struct Ends {
    /// From now on, when they are answered.
    soon: CancellationToken,
    /// At once.
    now: CancellationToken,
}

/// Takes connections until `stop`, and waits for what is being answered then, for so long and no longer.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    node: Node,
    stop: CancellationToken,
) {
    let (seats, tasks) = (Arc::new(Seats::default()), TaskTracker::new());
    let now = CancellationToken::new();
    // Whoever drops this ends them all.
    let cut = now.clone().drop_guard();
    let ends = Ends { soon: stop, now };
    loop {
        let accepted = tokio::select! {
            () = ends.soon.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let seated = Seated::new(&seats, &node);
                let limit = (node.limits.headers, node.limits.reading);
                let talk = talk(stream, router.clone(), limit, seated, ends.clone());
                tasks.spawn(talk);
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
        drop(cut);
        tasks.wait().await;
    }
}

/// Answers what is asked on a connection, until it ends.
async fn talk(
    stream: TcpStream,
    router: Router,
    (headers, reading): (Duration, Duration),
    seated: Seated,
    ends: Ends,
) {
    // An answer is written at once; waiting for more of it would only be slow.
    let _ = stream.set_nodelay(true);
    let inner = TowerToHyperService::new(router);
    let seat = Arc::clone(&seated.seat);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&seat));
        inner.call(request)
    });
    let stream = Patience::new(stream, Arc::clone(&seated.seat), reading);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(headers)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seated.seat.given_up.cancelled() => return,
        () = ends.now.cancelled() => return,
        () = ends.soon.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = ends.now.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended before its time");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Listening, Server};
    use axum::routing::get;
    use lockwork_runtime::{MemoryStore, RuntimeBuilder};
    use std::sync::atomic::Ordering::Relaxed;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        task::JoinHandle,
    };

    const LIMIT: Duration = Duration::from_secs(60);

    /// A node whose only handler is this one, and somebody who has asked it.
    async fn asked(router: Router) -> (Node, TcpStream, CancellationToken, JoinHandle<()>) {
        let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).build();
        let listening = Server::new(runtime).listen("127.0.0.1:0").await.unwrap();
        let address = listening.address();
        let Listening { listener, node, .. } = listening;
        let stop = CancellationToken::new();
        let accept = accept(listener, router, Arc::clone(&node), stop.clone());
        let accept = tokio::spawn(accept);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";
        stream.write_all(request).await.unwrap();
        (node, stream, stop, accept)
    }

    /// Until the other end closes it.
    async fn closed(mut stream: TcpStream) {
        let mut rest = Vec::new();
        let read = tokio::time::timeout(LIMIT, stream.read_to_end(&mut rest)).await;
        let _ = read.expect("it was not closed, not within a minute");
    }

    async fn ended(accept: JoinHandle<()>) {
        let ended = tokio::time::timeout(LIMIT, accept).await;
        ended.expect("it did not end within a minute").unwrap();
    }

    #[tokio::test]
    async fn a_handler_that_panics_leaves_no_connection_behind() {
        let panics = get(|| async {
            if true {
                panic!("on purpose");
            }
        });
        let (node, stream, stop, accept) = asked(Router::new().route("/", panics)).await;
        closed(stream).await;
        stop.cancel();
        ended(accept).await;
        assert_eq!(node.counts.connections.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn what_is_still_open_after_the_last_seconds_is_cut_off() {
        let (begun, told) = tokio::sync::oneshot::channel::<()>();
        let begun = Arc::new(std::sync::Mutex::new(Some(begun)));
        let never = get(|| async move {
            drop(begun.lock().unwrap().take());
            std::future::pending::<()>().await;
        });
        let (node, stream, stop, accept) = asked(Router::new().route("/", never)).await;
        let _ = told.await;
        stop.cancel();
        ended(accept).await;
        assert_eq!(node.counts.connections.load(Relaxed), 0);
        closed(stream).await;
    }
}
