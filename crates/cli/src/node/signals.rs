//! Being told to end: the first signal drains the node, a second one ends it at once.

#[cfg(unix)]
use crate::exit::{self, End};
use crate::{exit::Ended, show};

/// Signals that end a node, from now on ours.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn listen() -> Ended<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                terminate: signal(SignalKind::terminate()).map_err(|error| refused(&error))?,
                interrupt: signal(SignalKind::interrupt()).map_err(|error| refused(&error))?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ends at the first signal. Whoever sends another one does not want to wait.
    pub(crate) async fn end(mut self) {
        self.next().await;
        show::say(
            "this node ends when its work is at the end of a step; once more ends it at once",
        );
        tokio::spawn(async move {
            let number = self.next().await;
            std::process::exit(128 + number);
        });
    }

    /// The number of the next signal.
    pub(crate) async fn next(&mut self) -> i32 {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => nix::sys::signal::Signal::SIGTERM as i32,
            _ = self.interrupt.recv() => nix::sys::signal::Signal::SIGINT as i32,
        }
        #[cfg(not(unix))]
        {
            // Without a console nobody can interrupt it.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            2
        }
    }
}

#[cfg(unix)]
fn refused(error: &std::io::Error) -> End {
    let sentence = format!("the system gave no signals: {error}");
    End::new(exit::SYSTEM, sentence)
}
