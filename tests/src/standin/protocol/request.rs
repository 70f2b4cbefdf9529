//! What a client asks.

use super::words::Word;
use lockwork::{LockId, Mode, OwnerId};
use std::time::Duration;

/// What a client asks.
#[derive(Clone, Debug)]
pub enum Request {
    /// Nothing: does the server live?
    Ping,
    /// To be told on this connection when a lock may be free.
    Subscribe,
    /// A lease, at once or not at all. An owner that has it already has it anew.
    Try {
        /// Which lock.
        id: LockId,
        /// For whom.
        owner: OwnerId,
        /// How.
        mode: Mode,
        /// For how long.
        time: Duration,
        /// Whether to stand in line if it is busy, for 1.5 s or until the next try.
        wait: bool,
    },
    /// More time for each of these leases, as much as each was granted for.
    Renew(Vec<(LockId, OwnerId)>),
    /// The end of what this owner has or waits for. A try of this owner that comes later is
    /// refused for a while: it was sent earlier, and nobody waits for its answer.
    Release {
        /// Which lock.
        id: LockId,
        /// Whose.
        owner: OwnerId,
        /// How long to refuse late tries.
        tombstone: Duration,
    },
    /// Out of the line.
    Leave {
        /// Which lock.
        id: LockId,
        /// Who.
        owner: OwnerId,
    },
    /// To be the writer instead of the upgradeable reader.
    Upgrade {
        /// Which lock.
        id: LockId,
        /// Who.
        owner: OwnerId,
    },
    /// To be the upgradeable reader again, if upgraded.
    Downgrade {
        /// Which lock.
        id: LockId,
        /// Who.
        owner: OwnerId,
    },
    /// Grants that live on this connection: first all that are given back, then all that are
    /// tried.
    Batch(Vec<Step>),
    /// Who has it and who waits.
    Holders(LockId),
    /// The end of all grants of it. A connection that has one of them ends.
    Break(LockId),
}

/// One step of a batch.
#[derive(Clone, Debug)]
pub struct Step {
    /// What to do.
    pub verb: Verb,
    /// With which lock.
    pub id: LockId,
    /// In which mode.
    pub mode: Mode,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Gives a grant back.
    Give,
    /// Makes an upgraded writer the upgradeable reader again.
    Downgrade,
    /// Tries for a grant.
    Take,
    /// Tries to make the upgradeable reader the writer.
    Upgrade,
}

const VERBS: [(char, Verb); 4] = [
    ('-', Verb::Give),
    ('~', Verb::Downgrade),
    ('+', Verb::Take),
    ('^', Verb::Upgrade),
];

impl Request {
    /// The line that asks this.
    #[must_use]
    pub fn line(&self, number: u64) -> String {
        let words = match self {
            Self::Ping => "ping".to_owned(),
            Self::Subscribe => "subscribe".to_owned(),
            Self::Try {
                id,
                owner,
                mode,
                time,
                wait,
            } => {
                let wait = if *wait { "wait" } else { "once" };
                let (id, owner) = (id.word(), owner.word());
                format!("try {id} {owner} {} {} {wait}", mode.word(), time.word())
            }
            Self::Renew(leases) => listed("renew", leases.iter().map(Word::word)),
            Self::Release {
                id,
                owner,
                tombstone,
            } => format!(
                "release {} {} {}",
                id.word(),
                owner.word(),
                tombstone.word()
            ),
            Self::Leave { id, owner } => format!("leave {} {}", id.word(), owner.word()),
            Self::Upgrade { id, owner } => format!("upgrade {} {}", id.word(), owner.word()),
            Self::Downgrade { id, owner } => format!("downgrade {} {}", id.word(), owner.word()),
            Self::Batch(steps) => listed("batch", steps.iter().map(Step::word)),
            Self::Holders(id) => format!("holders {}", id.word()),
            Self::Break(id) => format!("break {}", id.word()),
        };
        format!("{number} {words}\n")
    }

    /// What a line asks; `None` if it is none of ours.
    #[must_use]
    pub fn read(line: &str) -> Option<(u64, Self)> {
        let mut words = line.split(' ');
        let number = words.next()?.parse().ok()?;
        let verb = words.next()?;
        let rest: Vec<&str> = words.collect();
        let request = match (verb, &rest[..]) {
            ("ping", []) => Self::Ping,
            ("subscribe", []) => Self::Subscribe,
            ("try", [id, owner, mode, time, wait]) => Self::Try {
                id: Word::of(id)?,
                owner: Word::of(owner)?,
                mode: Word::of(mode)?,
                time: Word::of(time)?,
                wait: *wait == "wait",
            },
            ("renew", leases) => Self::Renew(all(leases, Word::of)?),
            ("release", [id, owner, tombstone]) => Self::Release {
                id: Word::of(id)?,
                owner: Word::of(owner)?,
                tombstone: Word::of(tombstone)?,
            },
            ("leave", [id, owner]) => Self::Leave {
                id: Word::of(id)?,
                owner: Word::of(owner)?,
            },
            ("upgrade", [id, owner]) => Self::Upgrade {
                id: Word::of(id)?,
                owner: Word::of(owner)?,
            },
            ("downgrade", [id, owner]) => Self::Downgrade {
                id: Word::of(id)?,
                owner: Word::of(owner)?,
            },
            ("batch", steps) => Self::Batch(all(steps, Step::of)?),
            ("holders", [id]) => Self::Holders(Word::of(id)?),
            ("break", [id]) => Self::Break(Word::of(id)?),
            _ => return None,
        };
        Some((number, request))
    }
}

impl Word for Step {
    fn word(&self) -> String {
        let sign = VERBS.iter().find(|(_, verb)| *verb == self.verb);
        let sign = sign.map_or('?', |(sign, _)| *sign);
        format!("{sign}{}/{}", self.id.word(), self.mode.word())
    }

    fn of(word: &str) -> Option<Self> {
        let first = word.chars().next()?;
        let (sign, verb) = VERBS.into_iter().find(|(sign, _)| *sign == first)?;
        let (id, mode) = Word::of(word.strip_prefix(sign)?)?;
        Some(Self { verb, id, mode })
    }
}

pub(super) fn listed(verb: &str, words: impl Iterator<Item = String>) -> String {
    words.fold(verb.to_owned(), |line, word| line + " " + &word)
}

pub(super) fn all<T>(words: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    words.iter().map(|word| read(word)).collect()
}
