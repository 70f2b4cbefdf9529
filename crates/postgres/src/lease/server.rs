//! What the server can do with leases, as the engine asks for it.

use super::{
    contradiction,
    key::Key,
    line::{Answer, Line},
    statement::{Argument, Statement},
};
use crate::{Options, errors::refused};
use lockwork_core::lock::{
    Error, ErrorKind, LockId, Loss, Mode, OwnerId, Request, Result, Token,
    backend::{
        Hints, Listener, Pace, Upgrade, client,
        lease::{LeaseServer, LeaseTaker, Renewal, Take, Verdict},
        line::Failure,
    },
};
use sqlx::Row;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How often to ask again. The server cannot tell us: notifications need a session of one's own.
const PACE: Pace = Pace {
    least: Duration::from_millis(50),
    most: Duration::from_millis(250),
};

/// After so long without asking again nobody waits any more: four times the longest pause.
const WAITER_LASTS: i64 = 1000;

/// A shorter lease would end by a hiccup of the network.
const SHORTEST: Duration = Duration::from_secs(1);

/// A longer one is no lease any more; and the server counts years up to a limit.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// For how long an owner is refused what it has given back, in milliseconds, if a question of its own
/// may still be on the way: longer than any is worked on.
const BURIED: i64 = 10_000;

/// A database with leases in it, as the keeper of leases sees it.
#[derive(Debug)]
pub struct LeaseTable {
    pub(super) options: Options,
    pub(super) line: Line,
    pub(super) hints: Hints,
    /// For how long a lease is granted unless another time is wished for.
    pub(super) time: Duration,
}

/// What names one lease to the server.
#[derive(Debug)]
pub struct Lease {
    id: LockId,
    key: Key,
    owner: OwnerId,
    mode: Mode,
    time: Duration,
    /// A question for it may still be on the way.
    in_doubt: AtomicBool,
}

/// A function's answer, as all but one have it.
pub(super) struct Said {
    pub(super) verdict: i16,
    pub(super) answer: Option<i64>,
    pub(super) asked_twice: bool,
}

impl Lease {
    /// How long it lasts, in milliseconds.
    pub(super) fn millis(&self) -> i64 {
        i64::try_from(self.time.as_millis()).unwrap_or(i64::MAX / 2)
    }
}

impl Lease {
    /// For how long to refuse it to its owner once that gives it back, in milliseconds.
    fn buried(&self) -> i64 {
        match self.in_doubt.load(Ordering::Relaxed) {
            true => BURIED,
            false => 0,
        }
    }
}

impl LeaseTable {
    /// Calls `function` for one lease; its number, key and owner go before `more`.
    async fn call(
        &self,
        function: &'static str,
        lease: &Lease,
        more: &[Argument<'_>],
    ) -> Result<Said, Failure> {
        let statement = self.statement(function, lease, more);
        let answer = self.line.ask(lease.key.number, statement).await?;
        Said::of(&answer).map_err(Failure::Unknown)
    }

    /// The same, of which nobody waits for the answer.
    fn tell(&self, function: &'static str, lease: &Lease, more: &[Argument<'_>]) {
        let statement = self.statement(function, lease, more);
        self.line.tell(lease.key.number, statement);
    }

    fn statement(&self, function: &'static str, lease: &Lease, more: &[Argument<'_>]) -> Statement {
        let which = [
            Argument::Number(lease.key.number),
            (&lease.key).into(),
            (&lease.owner).into(),
        ];
        Statement::call(&self.options, function, &[&which, more].concat())
    }
}

impl Said {
    pub(super) fn of(answer: &Answer) -> Result<Self> {
        let row = answer.rows.first().ok_or_else(contradiction)?;
        Ok(Self {
            verdict: row.try_get(0).map_err(refused)?,
            answer: row.try_get(1).map_err(refused)?,
            asked_twice: answer.asked_twice,
        })
    }

    /// The token in it, if one is.
    pub(super) fn token(&self) -> Result<Option<Token>> {
        self.answer.map(token).transpose()
    }
}

pub(super) fn token(number: i64) -> Result<Token> {
    let token = u64::try_from(number).ok().and_then(Token::from_server);
    token.ok_or_else(|| {
        let message = "the sequence that tokens come from is out of numbers: it must stay between \
                       one and 2^47";
        Error::new(ErrorKind::Denied, message).with("number", number)
    })
}

impl LeaseServer for LeaseTable {
    type Lease = Lease;

    async fn renew(&self, leases: Vec<Arc<Lease>>) -> Result<Vec<Renewal>> {
        let list = |of: fn(&Lease) -> Argument<'_>| leases.iter().map(|lease| of(lease)).collect();
        let lists = [
            ("int8", list(|lease| Argument::Number(lease.key.number))),
            ("bytea", list(|lease| (&lease.key).into())),
            ("bytea", list(|lease| (&lease.owner).into())),
            ("int8", list(|lease| Argument::Number(lease.millis()))),
        ];
        let statement = Statement::call_lists(&self.options, "lease_renew_v1", &lists);
        let mut renewals = vec![Renewal::Gone; leases.len()];
        for row in self.line.ask_alone(statement).await? {
            let number: i64 = row.try_get(0).map_err(refused)?;
            let at = usize::try_from(number - 1).ok();
            let renewal = at.and_then(|at| renewals.get_mut(at));
            *renewal.ok_or_else(contradiction)? = Renewal::Renewed;
        }
        Ok(renewals)
    }

    async fn surrender(&self, lease: Arc<Lease>) -> Result<()> {
        let buried = Argument::Number(lease.buried());
        let given = self.call("lease_give_v1", &lease, &[buried]).await;
        self.hints.hint(&lease.id);
        given.map(drop).map_err(Error::from)
    }

    async fn upgrade(&self, lease: Arc<Lease>) -> Result<Upgrade> {
        let lasts = Argument::Number(WAITER_LASTS);
        let said = self.call("lease_rise_v1", &lease, &[lasts]).await?;
        match said.verdict {
            1 => Ok(Upgrade::Done(said.token()?)),
            2 => Ok(Upgrade::Busy),
            3 => Err(Error::from(Loss::Taken)),
            4 => {
                let message = "only an upgradeable reader can be upgraded";
                Err(Error::new(ErrorKind::Invalid, message))
            }
            _ => Err(contradiction()),
        }
    }

    async fn downgrade(&self, lease: Arc<Lease>) -> Result<()> {
        let fallen = self.call("lease_fall_v1", &lease, &[]).await;
        self.hints.hint(&lease.id);
        fallen.map(drop).map_err(Error::from)
    }

    fn pace(&self, lease: &Lease) -> (Pace, Option<Listener>) {
        (PACE, Some(self.hints.listen(&lease.id)))
    }
}

impl LeaseTaker for LeaseTable {
    fn lease(&self, request: &Request) -> Lease {
        let id = request.id();
        Lease {
            key: Key::of(&id),
            id,
            owner: request.owner,
            mode: request.mode,
            time: request.lease.unwrap_or(self.time).clamp(SHORTEST, LONGEST),
            in_doubt: AtomicBool::new(false),
        }
    }

    fn time(&self, lease: &Lease) -> Duration {
        lease.time
    }

    async fn take(&self, lease: &Arc<Lease>, waits: bool) -> Result<Take, Failure> {
        let (mode, permits) = lease.mode.code();
        let more = [
            Argument::Small(mode.into()),
            Argument::Number(permits.into()),
            Argument::Number(lease.millis()),
            Argument::Flag(waits),
            Argument::Number(WAITER_LASTS),
            Argument::Bytes(client::name().as_bytes()),
        ];
        let said = self.call("lease_take_v1", lease, &more).await?;
        let verdict = match said.verdict {
            1 => Verdict::Granted(said.token().map_err(Failure::NotDone)?),
            2 => Verdict::Busy(again_in(said.answer)),
            3 => Verdict::Buried,
            _ => return Err(Failure::NotDone(contradiction())),
        };
        Ok(Take {
            verdict,
            asked_twice: said.asked_twice,
        })
    }

    fn doubt(&self, lease: &Lease) {
        lease.in_doubt.store(true, Ordering::Relaxed);
    }

    fn leave(&self, lease: &Arc<Lease>) {
        // A question that comes late would stand in line again.
        match lease.buried() {
            0 => self.tell("lease_leave_v1", lease, &[]),
            buried => self.tell("lease_give_v1", lease, &[Argument::Number(buried)]),
        }
        // Readers that were kept out by a writer may come in now.
        self.hints.hint(&lease.id);
    }
}

/// The rest of the lease that is in the way, if that is over before we would ask again anyhow. A
/// holder that lives renews it, or gives it back without our hearing of it.
fn again_in(millis: Option<i64>) -> Option<Duration> {
    let rest = Duration::from_millis(u64::try_from(millis?).unwrap_or_default());
    (rest < PACE.most).then_some(rest)
}
