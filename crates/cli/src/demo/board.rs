//! Who is at what, as far as nodes have told. Knows the time as it is told.

use super::listen::Commit;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// What one node has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) steps: usize,
    /// Instances it has in hand, as far as is known.
    pub(super) runs: usize,
}

/// The node that was killed.
#[derive(Debug)]
pub(super) struct Killed {
    pub(super) node: usize,
    pub(super) at: Instant,
    /// What it had in hand, until somebody goes on with it.
    pub(super) left: BTreeSet<String>,
    /// After how long others went on, in the order in which they did.
    pub(super) taken: Vec<Duration>,
}

#[derive(Debug, Default)]
pub(super) struct Board {
    steps: BTreeMap<usize, usize>,
    /// Who has each instance in hand that somebody has.
    hands: BTreeMap<String, usize>,
    pub(super) killed: Option<Killed>,
}

impl Board {
    /// Says who goes on with what the killed node had in hand, and after how long.
    pub(super) fn apply(&mut self, commit: Commit, now: Instant) -> Option<(usize, Duration)> {
        *self.steps.entry(commit.by).or_default() += commit.steps;
        match commit.runs {
            true => self.hands.insert(commit.instance.clone(), commit.by),
            false => self.hands.remove(&commit.instance),
        };
        let killed = self.killed.as_mut()?;
        if commit.by != killed.node {
            let after = now.saturating_duration_since(killed.at);
            let is_taken = killed.left.remove(&commit.instance);
            is_taken.then(|| killed.taken.push(after));
            return is_taken.then_some((commit.by, after));
        }
        // It told this before it died, and it was heard after.
        match commit.runs {
            true => killed.left.insert(commit.instance),
            false => killed.left.remove(&commit.instance),
        };
        None
    }

    pub(super) fn kill(&mut self, node: usize, now: Instant) {
        let hands = self.hands.iter().filter(|(_, by)| **by == node);
        self.killed = Some(Killed {
            node,
            at: now,
            left: hands.map(|(instance, _)| instance.clone()).collect(),
            taken: Vec::new(),
        });
    }

    pub(super) fn work(&self, node: usize) -> Work {
        Work {
            steps: self.steps.get(&node).copied().unwrap_or_default(),
            runs: self.hands.values().filter(|by| **by == node).count(),
        }
    }

    /// Who has most in hand, if anybody has anything.
    pub(super) fn busiest(&self) -> Option<usize> {
        self.hands
            .values()
            .copied()
            .max_by_key(|node| self.work(*node).runs)
    }

    /// Whether others have gone on with everything that the killed node had in hand.
    pub(super) fn is_taken_over(&self) -> bool {
        self.killed
            .as_ref()
            .is_some_and(|killed| killed.left.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(by: usize, instance: &str, runs: bool) -> Commit {
        let instance = instance.to_owned();
        Commit {
            by,
            instance,
            runs,
            steps: 1,
        }
    }

    #[test]
    fn what_a_killed_node_had_in_hand_is_left_until_another_goes_on_with_it() {
        let (mut board, now) = (Board::default(), Instant::now());
        for told in [
            commit(0, "x", true),
            commit(1, "y", true),
            commit(1, "z", false),
        ] {
            assert_eq!(board.apply(told, now), None);
        }
        assert_eq!(board.busiest(), Some(1));
        board.kill(1, now);
        assert!(!board.is_taken_over());
        // Somebody else's is no takeover.
        assert_eq!(board.apply(commit(0, "z", true), now), None);
        let later = now + Duration::from_secs(6);
        let taken = board.apply(commit(0, "y", true), later);
        assert_eq!(taken, Some((0, Duration::from_secs(6))));
        assert!(board.is_taken_over());
        assert_eq!((board.work(0).runs, board.work(1).runs), (3, 0));
        assert_eq!(board.work(0).steps, 3);
    }

    #[test]
    fn what_a_node_told_before_it_died_counts_when_it_is_heard_after() {
        let (mut board, now) = (Board::default(), Instant::now());
        board.apply(commit(1, "x", true), now);
        board.kill(1, now);
        board.apply(commit(1, "x", false), now);
        assert!(board.is_taken_over(), "it rested before the kill");
        board.apply(commit(1, "y", true), now);
        assert!(!board.is_taken_over());
    }
}
