//! Being told: when a file somebody waits for is closed, and when one that is held is taken away.
//!
//! One thread for the whole process, with one inotify instance where the system has that. It also
//! looks for itself, every second in directories it is told of and every 50 ms in those it is not.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod inotify;
mod looking;
mod rounds;

use crate::place::Place;
use lockwork_core::lock::LockId;
use std::{path::Path, sync::Arc};

#[cfg(any(target_os = "linux", target_os = "android"))]
use inotify as told;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use looking as told;

/// A directory or a file is watched for as long as this exists.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Ends when dropped; `None` if somebody looks instead.
    told: Option<told::Watch>,
}

impl Watch {
    /// Whether the system tells, or somebody looks.
    pub(crate) const fn is_told(&self) -> bool {
        self.told.is_some()
    }
}

/// Watches the directory of `place` for what is taken away.
pub(crate) fn directory(place: &Arc<Place>) -> Watch {
    let told = if place.options.poll {
        None
    } else {
        told::directory(place)
    };
    rounds::include(place, told.is_some());
    if !told::wake() {
        looking::start();
    }
    Watch { told }
}

/// The highest number with which any client of this process holds the file at `path`. Somebody may
/// have removed it: the one that is made next must begin above.
pub(crate) fn highest(path: &Path) -> u64 {
    rounds::highest(path)
}

/// Watches the file at `path`, and hints at `id` when somebody closes it who could write to it;
/// `None` if the system cannot or will not tell.
pub(crate) fn file(place: &Place, path: &Path, id: &LockId) -> Option<Watch> {
    if place.options.poll {
        return None;
    }
    told::file(path, &place.hints, id).map(|told| Watch { told: Some(told) })
}
