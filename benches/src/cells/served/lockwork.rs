//! Locks of lockwork itself: the URL says at which server.

use super::{Handed, Kind, name};
use crate::{
    cell::Outcome,
    cells::{
        Role,
        crowd::{self, Crowded},
        handoff,
    },
};

/// What processes do with them, at whichever server.
pub(in crate::cells) const ROLES: &[Role] = &[
    handoff::first::<Lockwork>(),
    handoff::second::<Lockwork>(),
    crowd::role::<Lockwork>(),
];

#[derive(Clone, Debug)]
pub(in crate::cells) struct Lockwork(pub(in crate::cells) lockwork::Mutex);

impl Kind for Lockwork {
    type Guard = lockwork::Guard;

    async fn several(url: &str, names: u64) -> Outcome<Vec<Self>> {
        let locks = lockwork::connect(url).await?;
        let one = |number| Self(locks.mutex(name(number)));
        Ok((0..names).map(one).collect())
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.0.lock().await?)
    }

    async fn give(guard: Self::Guard) -> Outcome<()> {
        Ok(guard.release().await?)
    }
}

impl Handed for Lockwork {
    const HANDOFF: [&str; 2] = ["handoff-served", "handoff-served-second"];
}

impl Crowded for Lockwork {
    const CROWD: &str = "crowd-served";
}
