//! Who reads on a session. The server would count them too, but does not tell how many it counts, and
//! lets them in before a writer that waits. So a session has a lock once for all of them.

use crate::keys::Key;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Readers(HashMap<Key, usize>);

impl Readers {
    pub(super) fn any(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn enter(&mut self, key: &Key) {
        *self.0.entry(key.clone()).or_default() += 1;
    }

    /// One leaves; whether others stay.
    pub(super) fn leave(&mut self, key: &Key) -> bool {
        let Some(count) = self.0.get_mut(key) else {
            return false;
        };
        *count -= 1;
        let others_stay = *count > 0;
        if !others_stay {
            self.0.remove(key);
        }
        others_stay
    }
}
