//! Who was in when, as the processes wrote it down, and whether that may be.

use std::{str::FromStr, time::Duration};

/// One stay, in nanoseconds since the machine started.
#[derive(Clone, Debug)]
pub struct Stay {
    pub mode: String,
    pub from: u64,
    pub to: u64,
    /// Zero for none.
    pub token: u64,
}

impl FromStr for Stay {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<_> = line.split(' ').collect();
        let number = |at: usize| {
            let word = words.get(at).and_then(|word| word.parse().ok());
            word.ok_or_else(|| format!("not a stay: {line}"))
        };
        Ok(Self {
            mode: words[0].to_owned(),
            from: number(1)?,
            to: number(2)?,
            token: number(3)?,
        })
    }
}

/// Whether two may be in at once.
fn get_along(one: &Stay, other: &Stay) -> bool {
    matches!(
        (one.mode.as_str(), other.mode.as_str()),
        ("read", "read" | "upgradeable") | ("upgradeable", "read")
    )
}

/// Every two stays that overlap and must not, the earlier one first.
pub fn overlaps(stays: &[Stay]) -> Vec<(Stay, Stay)> {
    let mut stays: Vec<_> = stays.iter().collect();
    stays.sort_unstable_by_key(|stay| stay.from);
    let mut inside: Vec<&Stay> = Vec::new();
    let mut found = Vec::new();
    for stay in stays {
        inside.retain(|other| other.to > stay.from);
        let wrong = inside.iter().filter(|other| !get_along(other, stay));
        found.extend(wrong.map(|other| ((*other).clone(), stay.clone())));
        inside.push(stay);
    }
    found
}

/// How many were in at once, at most.
pub fn most_at_once(stays: &[Stay]) -> usize {
    let mut changes: Vec<_> = stays.iter().map(|stay| (stay.from, true)).collect();
    changes.extend(stays.iter().map(|stay| (stay.to, false)));
    // Who leaves in the nanosecond in which another comes leaves first.
    changes.sort_unstable();
    let (mut inside, mut most) = (0_usize, 0);
    for (_, comes) in changes {
        inside = if comes { inside + 1 } else { inside - 1 };
        most = most.max(inside);
    }
    most
}

/// Fails if a later stay's token is not higher.
pub fn tokens_rise(stays: &[Stay]) {
    let mut stays: Vec<_> = stays.iter().filter(|stay| stay.token != 0).collect();
    stays.sort_unstable_by_key(|stay| stay.from);
    for pair in stays.windows(2) {
        assert!(
            pair[0].token < pair[1].token,
            "tokens did not rise: {pair:?}"
        );
    }
}

/// Fails unless each overlap began with a removal and was over `limit` after it.
pub fn overlaps_end_soon(stays: &[Stay], removals: &[u64], limit: Duration) {
    let limit = u64::try_from(limit.as_nanos()).unwrap();
    for (first, second) in overlaps(stays) {
        let over = first.to.min(second.to);
        let excuses = |at: &&u64| first.from <= **at && **at <= second.from && over <= **at + limit;
        assert!(
            removals.iter().any(|at| excuses(&at)),
            "in at once without a reason, or for too long: {first:?} and {second:?}, removed at {removals:?}"
        );
    }
}

#[test]
fn an_overlap_is_found() {
    let stay = |mode: &str, from, to| Stay {
        mode: mode.into(),
        from,
        to,
        token: 0,
    };
    let both = |one: &str, other: &str| overlaps(&[stay(one, 1, 5), stay(other, 4, 8)]).len();
    assert_eq!(both("read", "read"), 0);
    assert_eq!(both("upgradeable", "read"), 0);
    assert_eq!(both("read", "write"), 1);
    assert_eq!(both("upgradeable", "upgradeable"), 1);
    assert_eq!(both("exclusive", "exclusive"), 1);
    assert_eq!(
        most_at_once(&[stay("permit", 1, 5), stay("permit", 5, 8)]),
        1
    );
    assert_eq!(
        most_at_once(&[stay("permit", 1, 6), stay("permit", 5, 8)]),
        2
    );
}
