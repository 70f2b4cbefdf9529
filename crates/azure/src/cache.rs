//! What was last seen of the blobs of locks: with that in hand, a lock is taken with two requests.

use crate::record::Record;
use azure_core::http::Etag;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A blob as it was: nobody has written to it since, if the server says so of the ETag.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) etag: Etag,
    pub(crate) record: Record,
}

/// For this many locks; then all is forgotten, which costs one request each.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<Arc<str>, Known>>);

impl Cache {
    pub(crate) fn get(&self, blob: &str) -> Option<Known> {
        self.table().get(blob).cloned()
    }

    pub(crate) fn put(&self, blob: &Arc<str>, known: Known) {
        let mut table = self.table();
        if table.len() >= MOST && !table.contains_key(blob) {
            table.clear();
        }
        table.insert(blob.clone(), known);
    }

    pub(crate) fn forget(&self, blob: &str) {
        self.table().remove(blob);
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Arc<str>, Known>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
