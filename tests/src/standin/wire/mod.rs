//! One connection that many share, mended when it breaks.
//!
//! It lives on the keeper thread, and so do its time limits: whoever asks may come from a runtime
//! that ends while the answer is on its way.

mod line;

use self::line::Line;
use super::protocol::{Reply, Request};
use lockwork::{
    Error, ErrorKind, Result,
    backend::{Hints, keeper},
};
use std::{io, net::SocketAddr, time::Duration};
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
};

/// How long an answer may take before the connection is given up.
pub(in crate::standin) const PATIENCE: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Where to ask. Cheap to clone; the connection ends with the last of these.
#[derive(Clone, Debug)]
pub(in crate::standin) struct Wire(mpsc::UnboundedSender<Call>);

#[derive(Debug)]
struct Call {
    request: Request,
    reply: Answer,
}

type Answer = oneshot::Sender<Result<Reply, Failure>>;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(in crate::standin) enum Failure {
    /// The server has not heard of the request.
    NotSent(Error),
    /// It may have, and may yet do what was asked.
    ReplyLost(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSent(error) | Failure::ReplyLost(error) => error,
        }
    }
}

impl Wire {
    /// Connects in the background; what the server has to tell goes to `hints`.
    pub(in crate::standin) fn to(addr: SocketAddr, hints: Hints) -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        keeper::spawn(keep_connected(addr, hints, calls));
        Self(sender)
    }

    /// Asks. The request is on its way in order when this returns, whether or not anybody waits
    /// for the answer.
    pub(in crate::standin) fn send(
        &self,
        request: Request,
    ) -> impl Future<Output = Result<Reply, Failure>> + use<> {
        let (reply, answer) = oneshot::channel();
        let _ = self.0.send(Call { request, reply });
        async move {
            let gone = || Failure::ReplyLost(unavailable("the connection was given up"));
            let answer = answer.await.unwrap_or_else(|_| Err(gone()))?;
            match answer {
                Reply::Error(why) => Err(Failure::NotSent(Error::new(ErrorKind::Unexpected, why))),
                reply => Ok(reply),
            }
        }
    }

    /// Asks again if no answer came the first time. For requests that may be repeated.
    pub(in crate::standin) async fn ask(&self, request: Request) -> Result<Reply> {
        match self.send(request.clone()).await {
            Err(Failure::ReplyLost(_)) => Ok(self.send(request).await?),
            answered => Ok(answered?),
        }
    }
}

/// A reply that answers something else than was asked.
pub(in crate::standin) fn unexpected(reply: &Reply) -> Error {
    let message = "the stand-in server answered something else than was asked";
    Error::new(ErrorKind::Unexpected, message).with("reply", format!("{reply:?}"))
}

pub(in crate::standin) fn unavailable(why: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, why)
}

/// Opens a connection to the server.
pub(in crate::standin) async fn connect(addr: SocketAddr) -> Result<TcpStream> {
    let refused = |error: io::Error| {
        unavailable("the stand-in server cannot be reached: is it running?")
            .with("address", addr)
            .because(error)
    };
    let stream = TcpStream::connect(addr).await.map_err(refused)?;
    stream.set_nodelay(true).map_err(refused)?;
    Ok(stream)
}

async fn keep_connected(addr: SocketAddr, hints: Hints, mut calls: mpsc::UnboundedReceiver<Call>) {
    let mut pause = Duration::ZERO;
    loop {
        let first = match tokio::time::timeout(pause, calls.recv()).await {
            Ok(None) => return,
            Ok(first) => first,
            Err(_) => None,
        };
        let connected = tokio::time::timeout(PATIENCE, connect(addr)).await;
        match connected.unwrap_or_else(|_| Err(unavailable("the server did not let us in"))) {
            Ok(stream) => {
                pause = FIRST_PAUSE;
                let mut line = Line::new(stream, hints.clone());
                if line.serve(first, &mut calls).await.is_over() {
                    return;
                }
                line.fail_all();
                // Whoever waits for a hint that was lost with the connection asks again.
                hints.hint_all();
            }
            Err(error) => {
                pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                let waiting = std::iter::from_fn(|| calls.try_recv().ok());
                for call in first.into_iter().chain(waiting) {
                    let _ = call.reply.send(Err(Failure::NotSent(error.clone())));
                }
            }
        }
    }
}
