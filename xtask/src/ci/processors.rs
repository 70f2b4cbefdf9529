//! What became of the time of the processors: a virtual machine shares them with others, and a run that took twice as
//! long as another may have been given half as much of them.

use std::fs;

/// How much time there was since the machine started, in ticks of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Processors {
    all: u64,
    /// What somebody here wanted to use, and whoever shares the machine was given.
    taken: u64,
}

impl Processors {
    /// Until now; where the system tells.
    pub(super) fn now() -> Option<Self> {
        Self::told(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line is of all processors: user, nice, system, idle, iowait, irq, softirq, steal. What comes after
    /// these is counted among them already (proc(5)).
    fn told(text: &str) -> Option<Self> {
        let numbers = text.lines().next()?.strip_prefix("cpu ")?;
        let numbers: Result<Vec<u64>, _> = numbers.split_whitespace().map(str::parse).collect();
        let numbers = numbers.ok()?;
        Some(Self {
            all: numbers.get(..8)?.iter().sum(),
            taken: *numbers.get(7)?,
        })
    }

    /// How many per cent of the time since `before` others were given.
    pub(super) fn taken_since(self, before: Self) -> Option<u64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let taken = self.taken.checked_sub(before.taken)?;
        Some(100 * taken / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    const AFTER: &str = "cpu  160 0 70 800 10 0 5 155 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";

    #[test]
    fn what_others_were_given_is_a_share_of_the_time_between() {
        let [before, after] = [BEFORE, AFTER].map(|text| Processors::told(text).unwrap());
        assert_eq!(after.taken_since(before), Some(60));
        assert_eq!(after.taken_since(after), None);
    }

    #[test]
    fn a_system_that_tells_something_else_tells_nothing() {
        for text in ["", "intr 5", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 many"] {
            assert_eq!(Processors::told(text), None, "{text}");
        }
    }
}
