//! After the command: giving the lock back, and which exit code that leaves.

use super::supervise::End;
use crate::{exit, show};
use lockwork::{ErrorKind, Guard};
use std::time::Duration;
use tokio::time::timeout;

/// How long a server may take to hear of a release.
const HEARS_WITHIN: Duration = Duration::from_secs(10);

/// Releases the lock of a command that ended so.
pub(super) async fn settle(guard: Guard, end: End) -> u8 {
    match end {
        End::Told { code, cut } => release(guard, code, cut).await,
        End::Unguarded { started } => {
            show::say(if started {
                "the guardian was killed, so the command was killed too"
            } else {
                "the guardian could not start the command: is /proc there, are processes left?"
            });
            release(guard, exit::SYSTEM, false).await
        }
    }
}

/// Releases the lock. `code` is what the command deserves if the lock was never lost; `cut` says
/// that the command was ended because the lock could not be known to be good.
pub(super) async fn release(guard: Guard, code: u8, cut: bool) -> u8 {
    let name = guard.name().clone();
    let Ok(released) = timeout(HEARS_WITHIN, guard.release()).await else {
        show::say(format_args!(
            "nobody answers the release of {name}: it may count as held for a while yet"
        ));
        return if cut { exit::LOST } else { code };
    };
    match released {
        Err(error) if error.kind() == ErrorKind::Lost => {
            show::say(format_args!(
                "the command did not have {name} to its end: {}",
                exit::sentence(&error)
            ));
            exit::LOST
        }
        _ if cut => {
            show::say(format_args!(
                "the command was ended: {name} was about to run out and nothing was heard of it"
            ));
            exit::LOST
        }
        Err(error) => {
            show::say(format_args!(
                "the release of {name} failed, it may count as held for a while yet: {}",
                exit::sentence(&error)
            ));
            code
        }
        Ok(()) => code,
    }
}
