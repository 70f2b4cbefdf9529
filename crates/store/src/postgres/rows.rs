//! Errands as rows.

use super::{
    statements::row,
    text::{self, millis},
};
use crate::json;
use lockwork_core::workflow::{BookmarkId, Error, ErrorKind, InstanceId, Result, Stimulus, Time};
use lockwork_runtime::store::{Errand, ErrandKind, Held};

/// An errand, as it is written.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) kind: i16,
    pub(super) instance: Option<String>,
    pub(super) bookmark: Option<String>,
    pub(super) body: Option<String>,
    pub(super) stimulus: Option<String>,
    pub(super) due: i64,
}

const DELIVER: i16 = 1;

const fn number(kind: &ErrandKind) -> i16 {
    match kind {
        ErrandKind::Send(_) => 0,
        ErrandKind::Deliver { .. } => DELIVER,
        ErrandKind::Start { .. } => 2,
        ErrandKind::Run { .. } => 3,
        ErrandKind::Cancel(_) => 4,
    }
}

impl Row {
    pub(super) fn of(errand: &Errand) -> Result<Self> {
        let kind = &errand.kind;
        let instance = kind.instance().map(|id| id.as_str().to_owned());
        let (bookmark, body, stimulus) = match kind {
            ErrandKind::Deliver {
                bookmark,
                input,
                stimulus,
                ..
            } => {
                let brings = stimulus.as_ref().map(|stimulus| &stimulus.input);
                let body = match brings == Some(input) {
                    true => None,
                    false => Some(json::write(input)?),
                };
                let stimulus = stimulus.as_ref().map(json::write).transpose()?;
                (Some(bookmark.as_str().to_owned()), body, stimulus)
            }
            other => (None, Some(json::write(other)?), None),
        };
        Ok(Self {
            id: text::escaped(&errand.id).into_owned(),
            kind: number(kind),
            instance,
            bookmark,
            body,
            stimulus,
            due: millis(errand.due),
        })
    }
}

/// Errands, column by column.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<String>,
    pub(super) kinds: Vec<i16>,
    pub(super) instances: Vec<Option<String>>,
    pub(super) bookmarks: Vec<Option<String>>,
    pub(super) bodies: Vec<Option<String>>,
    pub(super) stimuli: Vec<Option<String>>,
    pub(super) dues: Vec<i64>,
}

impl Columns {
    pub(super) fn of<'e>(errands: impl IntoIterator<Item = &'e Errand>) -> Result<Self> {
        let mut columns = Self::default();
        for errand in errands {
            let row = Row::of(errand)?;
            columns.ids.push(row.id);
            columns.kinds.push(row.kind);
            columns.instances.push(row.instance);
            columns.bookmarks.push(row.bookmark);
            columns.bodies.push(row.body);
            columns.stimuli.push(row.stimulus);
            columns.dues.push(row.due);
        }
        Ok(columns)
    }
}

row! {
    /// An errand that was handed out, as it is read: with `own`, `hold` and `attempts` at the end.
    pub(super) struct Taken {
        id: String,
        kind: i16,
        instance: Option<String>,
        bookmark: Option<String>,
        body: Option<String>,
        stimulus: Option<String>,
        own: bool,
        due: i64,
        hold: String,
        attempts: i32,
    }
}

impl Taken {
    pub(super) fn held(self) -> Result<Held> {
        let attempt = attempts(self.attempts);
        let kind = self.kind()?;
        Ok(Held {
            errand: Errand {
                id: text::unescaped(self.id),
                kind,
                due: Time::from_millis(self.due),
            },
            hold: self.hold,
            attempt,
        })
    }

    fn kind(&self) -> Result<ErrandKind> {
        if self.kind != DELIVER {
            return json::read("errand", &self.id, self.body.as_deref().unwrap_or_default());
        }
        let instance = instance(self.instance.as_deref(), &self.id)?;
        let bookmark = BookmarkId::new(self.bookmark.as_deref().unwrap_or_default())
            .map_err(|error| damaged("errand", &self.id).because(error))?;
        let stimulus = self.stimulus.as_deref();
        let stimulus = stimulus.map(|json| json::read("errand", &self.id, json));
        let mut stimulus: Option<Stimulus> = stimulus.transpose()?;
        if let Some(stimulus) = stimulus.as_mut().filter(|_| self.own) {
            stimulus.to.instance = Some(instance.clone());
        }
        let input = match (&self.body, &stimulus) {
            (Some(body), _) => json::read("errand", &self.id, body)?,
            (None, Some(stimulus)) => stimulus.input.clone(),
            (None, None) => return Err(damaged("errand", &self.id)),
        };
        Ok(ErrandKind::Deliver {
            instance,
            bookmark,
            input,
            stimulus,
        })
    }
}

/// An instance that a row of `errand` names.
pub(super) fn instance(id: Option<&str>, errand: &str) -> Result<InstanceId> {
    let id = InstanceId::new(id.unwrap_or_default());
    id.map_err(|error| damaged("errand", errand).because(error))
}

pub(super) fn damaged(table: &'static str, id: &str) -> Error {
    let message =
        "a row of the store is damaged: restore it from a backup, or delete what it is about";
    Error::new(ErrorKind::Unexpected, message)
        .with("table", table)
        .with("id", id)
}

pub(super) fn attempts(number: i32) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::workflow::{Create, DefinitionHandle, Run, Values, VersionId};
    use serde_json::json;

    fn kinds() -> Vec<ErrandKind> {
        let instance = InstanceId::new("i").expect("an id");
        let bookmark = BookmarkId::new("i/1").expect("an id");
        let values = |number: u32| Values::from_iter([("a".to_owned(), json!(number))]);
        let stimulus = Stimulus::new("Event", &json!({"x": "\u{0}"}))
            .expect("a stimulus")
            .input(values(1));
        let deliver = |input, stimulus| ErrandKind::Deliver {
            instance: instance.clone(),
            bookmark: bookmark.clone(),
            input,
            stimulus,
        };
        let version = VersionId::new("v:1").expect("an id");
        vec![
            ErrandKind::Send(stimulus.clone()),
            deliver(values(1), Some(stimulus.clone())),
            deliver(values(2), Some(stimulus)),
            deliver(Values::new(), None),
            ErrandKind::Start {
                instance: instance.clone(),
                create: Create::new(DefinitionHandle::Version(version)),
                run: Run::default(),
            },
            ErrandKind::Run {
                instance: instance.clone(),
                run: Run::default(),
            },
            ErrandKind::Cancel(instance),
        ]
    }

    #[test]
    fn each_errand_is_read_as_it_was_written() {
        for kind in kinds() {
            let id = "e".to_owned();
            let due = Time::from_millis(7);
            let errand = Errand { id, kind, due };
            let row = Row::of(&errand).expect("a row");
            let texts = [&row.body, &row.stimulus];
            assert!(
                texts
                    .iter()
                    .all(|text| text.as_ref().is_none_or(|text| !text.contains('\0')))
            );
            let taken = Taken {
                id: row.id,
                kind: row.kind,
                instance: row.instance,
                bookmark: row.bookmark,
                body: row.body,
                stimulus: row.stimulus,
                own: false,
                due: row.due,
                hold: "h".to_owned(),
                attempts: 2,
            };
            let held = taken.held().expect("an errand");
            assert_eq!((held.errand, held.attempt), (errand, 2));
        }
    }
}
