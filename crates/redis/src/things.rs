//! What is asked of the server and what it says, as `lock.lua` has it.

use crate::{Compat, errors, keys::Keys, owners::Word, plan::Plan};
use lockwork_core::lock::{Error, ErrorKind, LockId, Mode, Result, Token, backend::client};
use redis::{Cmd, Script, Value};
use std::{
    sync::{Arc, LazyLock, atomic::AtomicBool},
    time::Duration,
};

/// A script, and its hash, by which the server knows it.
#[derive(Debug)]
pub(crate) struct Text {
    whole: String,
    hash: String,
}

impl Text {
    fn new(whole: String) -> Self {
        Self {
            hash: Script::new(&whole).get_hash().to_owned(),
            whole,
        }
    }

    /// The one for names that are shared as `compat` says.
    pub(crate) fn of(compat: Compat) -> &'static Self {
        static OURS: LazyLock<Text> = LazyLock::new(|| {
            let inner = include_str!("lock.lua");
            Text::new(include_str!("call.lua").replace("--@ lock.lua\n", inner))
        });
        static THEIRS: LazyLock<Text> =
            LazyLock::new(|| Text::new(include_str!("medallion.lua").to_owned()));
        match compat {
            Compat::None => &OURS,
            Compat::Medallion => &THEIRS,
        }
    }
}

/// What to do with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Take,
    /// The same, and stand in line if it is refused.
    Wait,
    Renew,
    Give,
    Leave,
    Rise,
    Fall,
    Break,
    Look,
}

impl What {
    const fn word(self) -> &'static str {
        match self {
            Self::Take => "take",
            Self::Wait => "wait",
            Self::Renew => "renew",
            Self::Give => "give",
            Self::Leave => "leave",
            Self::Rise => "rise",
            Self::Fall => "fall",
            Self::Break => "break",
            Self::Look => "look",
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) what: What,
    pub(crate) lease: Arc<Lease>,
    /// Whether the owner is refused what it gives back, for a while.
    pub(crate) buried: bool,
}

/// What names one lease to the server.
#[derive(Debug)]
pub struct Lease {
    pub(crate) id: LockId,
    pub(crate) owner: Word,
    pub(crate) mode: Mode,
    /// For how long it is granted.
    pub(crate) time: Duration,
    /// A question for it may still be on the way.
    pub(crate) in_doubt: AtomicBool,
}

/// For how long an owner is refused what it has given back, if a question of its own may still be on
/// the way: longer than any is worked on.
const BURIED: Duration = Duration::from_secs(15);

/// What goes to the server together.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// One thing.
    One(Thing),
    /// Each on its own.
    Each(Vec<Thing>),
    /// All or none.
    All(Vec<Thing>),
    /// Only whether the server is there.
    Ping,
}

/// What the server says to a question.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) said: Several,
    /// It was asked before, and what was said to that is not known.
    pub(crate) asked_twice: bool,
}

/// What it says to each thing, in order.
#[derive(Clone, Debug)]
pub(crate) enum Several {
    /// To one, as most questions are.
    One(Said),
    /// To any number of them.
    Many(Vec<Said>),
}

impl Several {
    /// The first of them.
    pub(crate) fn first(self) -> Option<Said> {
        match self {
            Self::One(said) => Some(said),
            Self::Many(said) => said.into_iter().next(),
        }
    }

    /// All of them.
    pub(crate) fn all(self) -> Vec<Said> {
        match self {
            Self::One(said) => vec![said],
            Self::Many(said) => said,
        }
    }
}

/// What it says to one thing.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// Done, with a number: a token, or how many.
    Done(i64),
    /// Somebody is in the way, for so many milliseconds if that is known.
    Busy(i64),
    /// This owner has given it back before.
    Buried,
    /// This owner does not hold it.
    Gone,
    /// This cannot be done with how the owner holds it.
    Wrong,
    /// Something went wrong.
    Failed(Error),
    /// Who is there.
    Seen(Value),
}

impl Said {
    /// The token in `number`, where the script has one.
    pub(crate) fn token(number: i64) -> Result<Option<Token>> {
        if number == 0 {
            return Ok(None);
        }
        let token = u64::try_from(number).ok().and_then(Token::from_server);
        token.map(Some).ok_or_else(|| {
            let message = "the last token of a lock is not under 2^47: is the clock of the Redis \
                           server right?";
            Error::new(ErrorKind::Denied, message).with("number", number)
        })
    }
}

/// Who calls the script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    /// How it spells keys.
    pub(crate) keys: &'a Keys,
    /// What the answer begins with.
    pub(crate) nonce: u64,
    /// The channel on which the caller hears.
    pub(crate) inbox: &'a str,
    /// The key of the count that tokens of mutexes are taken from; none where each has its own.
    pub(crate) count: &'a str,
}

/// One call of the script for `things`, planned so.
pub(crate) fn call(text: &Text, things: &[Thing], plan: &Plan, caller: Caller<'_>) -> Cmd {
    // The keys and errands of most locks are no longer than this, and so are the words before them.
    let mut call = Cmd::with_capacity(16 + 3 * things.len(), 256 + 96 * things.len());
    call.arg("EVALSHA").arg(&text.hash).arg(things.len());
    let Caller {
        keys,
        nonce,
        inbox,
        count,
    } = caller;
    let in_order = || plan.order.iter().map(|place| &things[*place]);
    let mut key = String::new();
    for thing in in_order() {
        keys.spell(&thing.lease.id, &mut key);
        call.arg(&key);
    }
    call.arg(nonce).arg(process()).arg(inbox);
    match plan.all {
        true => call.arg("all"),
        false => call.arg(millis(plan.lease)),
    };
    for end in plan.ends {
        call.arg(end);
    }
    call.arg(count);
    let [given, _, taken] = plan.ends;
    for (place, thing) in (1..).zip(in_order()) {
        let owner = &thing.lease.owner;
        match (given + 1..=taken).contains(&place) {
            true => call.arg(&owner.at(place)[..]),
            false => call.arg(owner.letters()),
        };
    }
    for thing in in_order().skip(plan.ends[2]) {
        call.arg(errand(thing));
    }
    call
}

/// What to do, the mode, the lease, and one number more.
fn errand(thing: &Thing) -> String {
    let (mode, of) = thing.lease.mode.code();
    let more = match thing.what {
        What::Give if thing.buried => millis(BURIED),
        What::Give => 0,
        _ => u64::from(of),
    };
    let (what, lease) = (thing.what.word(), millis(thing.lease.time));
    format!("{what} {mode} {lease} {more}")
}

/// `HOST/PID`. What is lockwork's need not say so each time.
fn process() -> &'static str {
    let name = client::name();
    name.strip_prefix("lockwork/").unwrap_or(name)
}

/// The same call with the text of the script, for a server that does not know it.
pub(crate) fn with_text(text: &Text, call: &Cmd) -> Cmd {
    let mut whole = redis::cmd("EVAL");
    whole.arg(&text.whole);
    let arguments = call.args_iter().skip(2);
    for argument in arguments {
        if let redis::Arg::Simple(bytes) = argument {
            whole.arg(bytes);
        }
    }
    whole
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What the server said to the things of this plan, if it said it to the call with this nonce. Of all or
/// none, it says nothing more after the first refusal.
pub(crate) fn read(answer: Value, nonce: u64, plan: &Plan) -> Result<Vec<Said>> {
    let Value::Array(values) = answer else {
        return Err(errors::contradiction());
    };
    let mut values = values.into_iter();
    let repeats = match values.next() {
        Some(Value::BulkString(bytes)) => bytes == nonce.to_string().as_bytes(),
        _ => false,
    };
    if !repeats {
        return Err(errors::contradiction());
    }
    let [given, _, taken] = plan.ends;
    let mut said = Vec::with_capacity(plan.order.len());
    // What is given back has one number for all, and each that is taken one more than the one before it.
    sort(values.next(), given, |number, _| number, &mut said)?;
    sort(values.next(), taken - given, i64::saturating_add, &mut said)?;
    for value in values {
        said.push(one(value)?);
    }
    let things = plan.order.len();
    match said.len() == things || plan.all && (1..=things).contains(&said.len()) {
        true => Ok(plan.as_asked(said)),
        false => Err(errors::contradiction()),
    }
}

/// What was said to so many of a sort: a number for all of them, or something to each.
fn sort(
    value: Option<Value>,
    many: usize,
    of: impl Fn(i64, i64) -> i64,
    said: &mut Vec<Said>,
) -> Result<()> {
    match value {
        Some(Value::Int(number)) => {
            said.extend((1..).take(many).map(|at| Said::Done(of(number, at))));
        }
        Some(Value::Array(each)) if each.len() == many => {
            for value in each {
                said.push(one(value)?);
            }
        }
        _ => return Err(errors::contradiction()),
    }
    Ok(())
}

/// A number says that it was done; otherwise there is a verdict before the value.
fn one(said: Value) -> Result<Said> {
    let (verdict, value) = match said {
        Value::Int(number) => return Ok(Said::Done(number)),
        Value::Array(said) => match <[Value; 2]>::try_from(said) {
            Ok([Value::Int(verdict), value]) => (verdict, value),
            _ => return Err(errors::contradiction()),
        },
        _ => return Err(errors::contradiction()),
    };
    Ok(match (verdict, value) {
        (1, value) => Said::Seen(value),
        (2, Value::Int(millis)) => Said::Busy(millis),
        (3, _) => Said::Buried,
        (4, _) => Said::Gone,
        (5, _) => Said::Wrong,
        (-1, Value::BulkString(text)) => {
            let text = String::from_utf8_lossy(&text);
            let error = errors::of_thing(&text);
            // Then all of it was refused, and another server may be the primary now.
            if errors::is_of_replica(&text) {
                return Err(error);
            }
            Said::Failed(error)
        }
        _ => return Err(errors::contradiction()),
    })
}
