//! Stimuli on their way.

use super::{
    commit::consumed,
    errors::Trouble,
    pool::Operation,
    rows::{attempts, damaged, instance},
    statements::{Statements, ask_as, row},
    text::{bytes, drawn, escaped, millis, some_key, unescaped},
};
use crate::json;
use lockwork_core::workflow::{BookmarkId, InstanceId, Result, Time};
use lockwork_runtime::store::{Errand, ErrandKind, Held, Sending, Sent};
use sqlx::PgConnection;

/// When a stimulus expires that does not wait at all: before it was sent.
const GONE: i64 = i64::MIN;

/// Sends a stimulus.
#[derive(Debug)]
pub(super) struct Telling {
    sending: Sending,
    hash: Vec<u8>,
    stimulus: String,
    input: String,
    /// As JSON, for whoever is started.
    correlation: Option<String>,
    to_correlation: Option<String>,
    key: Option<String>,
    expires: Option<i64>,
    hold: String,
    consumes: Option<(String, String)>,
    /// The dead letter that is tried once more by this.
    dead: Option<String>,
}

impl Telling {
    pub(super) fn new(sending: Sending) -> Result<Self> {
        let stimulus = &sending.stimulus;
        let to = &stimulus.to;
        let expires = match stimulus.fleeting {
            true => Some(GONE),
            false => sending.expires.filter(|_| !to.is_certain()).map(millis),
        };
        Ok(Self {
            hash: bytes(&stimulus.hash),
            stimulus: json::write(stimulus)?,
            input: json::write(&stimulus.input)?,
            correlation: to.correlation.as_ref().map(json::write).transpose()?,
            to_correlation: some_key(to.correlation.as_deref())?,
            key: some_key(stimulus.key.as_deref())?,
            expires,
            hold: drawn(),
            consumes: consumed(sending.consumes.as_ref())?,
            dead: None,
            sending,
        })
    }

    /// By which a dead letter is tried once more.
    pub(super) fn of_dead(mut self, id: String) -> Self {
        self.dead = Some(id);
        self
    }
}

row! {
    /// A row for each errand, and a last one.
    struct SentRow {
        o_id: Option<String>,
        o_instance: Option<String>,
        o_bookmark: Option<String>,
        o_body: Option<String>,
        o_hold: Option<String>,
        o_attempts: Option<i32>,
        o_queued: Option<bool>,
        o_duplicate: Option<bool>,
        o_rings: Option<bool>,
        o_dead: Option<bool>,
    }
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) sent: Sent,
    rings: bool,
    /// Whether there was such a dead letter, if it was one.
    pub(super) dead: bool,
}

impl SentRow {
    fn held(self, sending: &Sending) -> Result<Option<Held>> {
        let (Some(id), Some(hold)) = (self.o_id, self.o_hold) else {
            return Ok(None);
        };
        let kind = match (self.o_bookmark, self.o_body) {
            (Some(bookmark), _) => ErrandKind::Deliver {
                instance: instance(self.o_instance.as_deref(), &id)?,
                bookmark: BookmarkId::new(&bookmark)?,
                input: sending.stimulus.input.clone(),
                stimulus: Some(sending.stimulus.clone()),
            },
            (None, Some(body)) => json::read("errand", &id, &body)?,
            (None, None) => return Err(damaged("errand", &id)),
        };
        let errand = Errand {
            id: unescaped(id),
            kind,
            due: sending.now,
        };
        Ok(Some(Held {
            errand,
            hold,
            attempt: self.o_attempts.map_or(1, attempts),
        }))
    }
}

impl Operation for Telling {
    type Out = Told;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Told, Trouble> {
        let sending = &self.sending;
        let to = &sending.stimulus.to;
        let send = ask_as::<SentRow>(&sql.send)
            .bind(escaped(&sending.id))
            .bind(&self.hash)
            .bind(&self.stimulus)
            .bind(&self.input)
            .bind(&self.correlation)
            .bind(to.instance.as_ref().map(InstanceId::as_str))
            .bind(&self.to_correlation)
            .bind(to.execution.as_ref().map(|id| id.as_str()))
            .bind(to.bookmark.as_ref().map(BookmarkId::as_str))
            .bind(&self.key)
            .bind(millis(sending.now))
            .bind(self.expires)
            .bind(millis(sending.hold))
            .bind(&self.hold)
            .bind(self.consumes.as_ref().map(|(id, _)| id))
            .bind(self.consumes.as_ref().map(|(_, hold)| hold))
            .bind(&self.dead);
        let mut told = Told::default();
        for row in send.fetch_all(at).await? {
            if row.o_id.is_none() {
                told.sent.queued = row.o_queued.unwrap_or_default();
                told.sent.duplicate = row.o_duplicate.unwrap_or_default();
                told.rings = row.o_rings.unwrap_or_default();
                told.dead = row.o_dead.unwrap_or_default();
            } else if let Some(held) = row.held(sending)? {
                told.sent.errands.push(held);
            }
        }
        Ok(told)
    }

    fn rings(told: &Told) -> bool {
        told.rings
    }
}

/// A delivery that came too late, on its way to another bookmark of its instance.
pub(super) fn redirected(held: &Held, now: Time, expires: Time) -> Option<Sending> {
    let ErrandKind::Deliver {
        instance,
        stimulus: Some(stimulus),
        ..
    } = &held.errand.kind
    else {
        return None;
    };
    let mut stimulus = stimulus.clone();
    stimulus.to.instance = Some(instance.clone());
    stimulus.key = None;
    Some(Sending {
        id: format!("{}+", held.errand.id),
        stimulus,
        now,
        expires: Some(expires),
        consumes: Some(held.clone()),
        hold: now,
    })
}
