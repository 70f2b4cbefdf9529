//! Who of those that wait for each other in a circle has to give up.

use super::table::Locks;

impl Locks {
    /// The sessions of a circle of waiting that `start` is in; empty if there is none.
    pub(super) fn circle(&self, start: i16) -> Vec<i16> {
        let mut path = vec![start];
        let mut seen = Vec::new();
        if self.leads_back(start, start, &mut path, &mut seen) {
            path
        } else {
            Vec::new()
        }
    }

    fn leads_back(&self, from: i16, start: i16, path: &mut Vec<i16>, seen: &mut Vec<i16>) -> bool {
        for next in self.blockers_of(from) {
            if next == start {
                return true;
            }
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            path.push(next);
            if self.leads_back(next, start, path, seen) {
                return true;
            }
            path.pop();
        }
        false
    }

    fn blockers_of(&self, session: i16) -> Vec<i16> {
        let waiters = self.entries().flat_map(|(_, entry)| {
            let waiting = entry.waiters.iter();
            waiting.map(move |waiter| (entry, waiter))
        });
        let own = waiters.filter(|(_, waiter)| waiter.owner.session == session);
        own.flat_map(|(entry, waiter)| entry.blockers(waiter))
            .collect()
    }
}
