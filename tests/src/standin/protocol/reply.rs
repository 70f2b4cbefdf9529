//! What the server says.

use super::{
    request::{all, listed},
    words::{Word, hex, text},
};
use lockwork::{Holders, LockId, Token};
use std::time::Duration;

/// What the server answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It is done.
    Ok,
    /// A try or an upgrade was granted, with a token where the mode has one.
    Granted(Option<Token>),
    /// Somebody is in the way; if it is a lease, for how long at most.
    Busy(Option<Duration>),
    /// This owner has been released, so that its try comes too late.
    Refused,
    /// This owner has no such lease.
    Gone,
    /// For each lease whether it was renewed.
    Renewed(Vec<bool>),
    /// Which takes and upgrades of a batch were granted.
    Taken(Vec<(LockId, Option<Token>)>),
    /// Who has it and who waits.
    Holders(Holders),
    /// How many grants were ended.
    Broken(usize),
    /// What is wrong with the request.
    Error(String),
}

/// One line from the server.
#[derive(Clone, Debug)]
pub enum FromServer {
    /// The answer to the request with this number.
    Reply(u64, Reply),
    /// This lock may be free.
    Freed(LockId),
}

impl FromServer {
    /// The line that says this.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Reply(number, reply) => format!("{number} {}\n", reply.words()),
            Self::Freed(id) => format!("freed {}\n", id.word()),
        }
    }

    /// What a line says; `None` if it is none of ours.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let (first, rest) = line.split_once(' ')?;
        if first == "freed" {
            return LockId::of(rest).map(Self::Freed);
        }
        Some(Self::Reply(first.parse().ok()?, Reply::read(rest)?))
    }
}

impl Reply {
    fn words(&self) -> String {
        match self {
            Self::Ok => "ok".to_owned(),
            Self::Granted(token) => format!("granted {}", token.word()),
            Self::Busy(rest) => format!("busy {}", rest.word()),
            Self::Refused => "refused".to_owned(),
            Self::Gone => "gone".to_owned(),
            Self::Renewed(each) => {
                listed("renewed", each.iter().map(|yes| u8::from(*yes).to_string()))
            }
            Self::Taken(each) => listed("taken", each.iter().map(Word::word)),
            Self::Holders(found) => {
                let inside = found
                    .holders
                    .iter()
                    .map(|holder| format!("+{}", holder.word()));
                let waiting = found.waiting.iter().map(|wait| format!("?{}", wait.word()));
                listed("holders", inside.chain(waiting))
            }
            Self::Broken(count) => format!("broken {count}"),
            Self::Error(why) => format!("error {}", hex(why.as_bytes())),
        }
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let verb = words.next()?;
        let rest: Vec<&str> = words.collect();
        Some(match (verb, &rest[..]) {
            ("ok", []) => Self::Ok,
            ("granted", [token]) => Self::Granted(Word::of(token)?),
            ("busy", [rest]) => Self::Busy(Word::of(rest)?),
            ("refused", []) => Self::Refused,
            ("gone", []) => Self::Gone,
            ("renewed", each) => Self::Renewed(each.iter().map(|yes| *yes == "1").collect()),
            ("taken", each) => Self::Taken(all(each, Word::of)?),
            ("holders", each) => Self::Holders(holders(each)?),
            ("broken", [count]) => Self::Broken(count.parse().ok()?),
            ("error", [why]) => Self::Error(text(why)?),
            _ => return None,
        })
    }
}

fn holders(words: &[&str]) -> Option<Holders> {
    let mut found = Holders::default();
    for word in words {
        match word.strip_prefix('+') {
            Some(holder) => found.holders.push(Word::of(holder)?),
            None => found.waiting.push(Word::of(word.strip_prefix('?')?)?),
        }
    }
    Some(found)
}
