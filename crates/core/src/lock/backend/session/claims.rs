//! Who of this process is in or asks to be, by key and across all sessions of a pool.
//!
//! A session grants itself what it already has, even shared beside exclusive. So whether a request
//! may be put to the server at all is decided here first.

use crate::lock::{Mode, backend::Present};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::OwnedSemaphorePermit;

#[derive(Debug)]
pub(super) struct Claims<K>(Arc<Mutex<HashMap<K, Present>>>);

/// One request's or grant's place. Dropped, it is free.
#[derive(Debug)]
pub(super) struct Claim<K: Eq + Hash> {
    claims: Claims<K>,
    key: K,
    mode: Mode,
    /// To wait at the server, or to hold what was waited for there.
    place: Option<OwnedSemaphorePermit>,
}

impl<K: Clone + Eq + Hash> Claims<K> {
    /// A place in `mode`, if those who are in admit it.
    pub(super) fn claim(&self, key: &K, mode: Mode) -> Option<Claim<K>> {
        let mut present = self.lock();
        let present = present.entry(key.clone()).or_default();
        if !present.admits(mode) {
            return None;
        }
        present.add(mode);
        Some(Claim {
            claims: self.clone(),
            key: key.clone(),
            mode,
            place: None,
        })
    }
}

impl<K: Eq + Hash> Claims<K> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Present>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Claim<K> {
    /// The same with a place at the server, which is free again when this is.
    pub(super) fn with_place(mut self, place: OwnedSemaphorePermit) -> Self {
        self.place = Some(place);
        self
    }

    pub(super) const fn mode(&self) -> Mode {
        self.mode
    }

    /// Makes an upgradeable reader's place a writer's; `false` if readers are in the way.
    pub(super) fn upgrade(&mut self) -> bool {
        self.change_to(Mode::Write, |present| present.readers() == 0)
    }

    /// Makes an upgraded writer's place an upgradeable reader's again.
    pub(super) fn downgrade(&mut self) {
        self.change_to(Mode::Upgradeable, |_| true);
    }

    /// Looks and changes under one lock: nobody comes in between.
    fn change_to(&mut self, mode: Mode, may: impl FnOnce(&Present) -> bool) -> bool {
        let mut claims = self.claims.lock();
        let Some(present) = claims.get_mut(&self.key).filter(|present| may(present)) else {
            return false;
        };
        present.remove(self.mode);
        present.add(mode);
        drop(claims);
        self.mode = mode;
        true
    }
}

impl<K: Eq + Hash> Drop for Claim<K> {
    fn drop(&mut self) {
        let mut claims = self.claims.lock();
        if let Some(present) = claims.get_mut(&self.key) {
            present.remove(self.mode);
            if present.is_empty() {
                claims.remove(&self.key);
            }
        }
    }
}

impl<K> Clone for Claims<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Default for Claims<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
