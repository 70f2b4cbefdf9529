//! Definitions, and everything else that can be asked for.

use super::{Both, chance::Chance};
use crate::support::{at, soon};
use lockwork_core::workflow::{DefinitionHandle, DefinitionId, NodeId, Stimulus, Value, VersionId};
use lockwork_flow::{Schedule, State, build};
use lockwork_runtime::store::{
    DefinitionStore, ErrandStore, InstanceStore, NewVersion, StimulusStore, TriggerRow,
};

impl Both {
    pub(super) async fn define(&mut self) {
        let id = DefinitionId::new(&format!("d{}", self.chance.below(2))).unwrap();
        let text = format!("{}", self.chance.below(3));
        let definition = build::workflow(id.as_str()).root(build::log("log", text.as_str()));
        let definition = definition.build().unwrap();
        let event = format!("e{}", self.chance.below(3));
        let triggers = vec![
            TriggerRow {
                node: NodeId::new("event").unwrap(),
                hash: Stimulus::new("Event", &event.into()).unwrap().hash,
                schedule: None,
                next: None,
            },
            TriggerRow {
                node: NodeId::new("timer").unwrap(),
                hash: Stimulus::new("Timer", &Value::Null).unwrap().hash,
                schedule: Some(Schedule::Every(std::time::Duration::from_millis(7).into())),
                next: Some(self.later()),
            },
        ];
        match self.chance.below(6) {
            0 => same!(self, retract(&id)),
            1 => {
                let version = VersionId::new(&format!("{id}:1")).unwrap();
                same!(self, index(&version, triggers));
            }
            _ => {
                let publish = self.chance.one_in(2);
                let new = NewVersion {
                    definition,
                    publish,
                    triggers,
                    now: self.now,
                };
                same!(self, put(new));
            }
        }
        same!(self, triggers(&id));
        same!(self, versions(None::<&DefinitionId>));
        for select in ["published", "latest", "draft", "publishedOrLatest"] {
            let select = serde_json::from_value(Value::from(select)).unwrap();
            let handle = DefinitionHandle::Of {
                definition: id.clone(),
                select,
            };
            same!(self, resolve(&handle));
        }
    }

    pub(super) async fn rest(&mut self) {
        let instance = self.chance.instance();
        let (now, later) = (self.now, self.later());
        match self.chance.below(8) {
            0 => same!(self, request_cancel(&instance)),
            1 => same!(self, delete(&instance)),
            2 => {
                let (before, limit) = (at(now.as_millis() - 10), self.chance.index(3));
                same!(self, forget(before, limit));
            }
            3 => {
                let limit = self.chance.index(4);
                same!(self, fire(now, limit));
            }
            4 => same!(self, purge(now, at(now.as_millis() - 30))),
            5 => {
                let errands = vec![self.new_errand()];
                same!(self, add(errands));
            }
            6 => {
                let dead = soon(self.memory.dead_letters()).await.unwrap();
                if let Some(letter) = dead.first() {
                    let (id, again) = (letter.id.as_str(), format!("again{}", self.count()));
                    same!(self, replay(id, again.as_str(), now, later));
                }
            }
            _ => {
                let mut state = State::new(instance.clone(), VersionId::new("w:1").unwrap(), now);
                if let Some(record) = soon(self.memory.load(&instance)).await.unwrap() {
                    state = State::clone(&record.state);
                }
                state.bookmarks.retain(|_| !self.chance.one_in(3));
                let activation = self.chance.some(3, Chance::key);
                same!(self, import(state, activation));
            }
        }
    }
}
