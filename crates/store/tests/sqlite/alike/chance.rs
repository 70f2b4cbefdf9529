//! What is asked for, by chance.

use super::Both;
use crate::support::values;
use lockwork_core::workflow::{
    Bookmark, BookmarkId, Create, DefinitionHandle, ExecutionId, InstanceId, NodeId, Run, Stimulus,
    Value, VersionId,
};
use lockwork_runtime::store::{Errand, ErrandKind};

/// Numbers that are the same each time.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    pub(super) fn some<T>(&mut self, one_in: u64, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(one_in).then(|| value(self))
    }

    pub(super) fn instance(&mut self) -> InstanceId {
        InstanceId::new(&format!("i{}", self.below(5))).unwrap()
    }

    pub(super) fn key(&mut self) -> String {
        format!("k{}", self.below(4))
    }

    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub(super) fn stimulus(&mut self, bookmarks: &[BookmarkId]) -> Stimulus {
        let name = format!("e{}", self.below(3));
        let mut stimulus = Stimulus::new("Event", &name.into()).unwrap();
        stimulus.to.instance = self.some(4, Self::instance);
        stimulus.to.correlation = self.some(4, Self::key);
        stimulus.to.execution = self.some(8, |chance| ExecutionId::numbered(chance.below(2)));
        if !bookmarks.is_empty() {
            stimulus.to.bookmark =
                self.some(6, |chance| bookmarks[chance.index(bookmarks.len())].clone());
        }
        stimulus.key = self.some(5, Self::key);
        stimulus.input = values("öß\"\\\u{1}");
        stimulus
    }
}

impl Both {
    pub(super) fn new_errand(&mut self) -> Errand {
        let instance = self.chance.instance();
        let kind = match self.chance.below(5) {
            0 => ErrandKind::Send(self.chance.stimulus(&[])),
            1 => ErrandKind::Cancel(instance),
            2 => ErrandKind::Run {
                instance,
                run: Run::default(),
            },
            3 if !self.bookmarks.is_empty() => {
                let bookmark = self.bookmarks[self.chance.index(self.bookmarks.len())].clone();
                let (instance, _) = bookmark.as_str().split_once(':').unwrap();
                ErrandKind::Deliver {
                    instance: InstanceId::new(instance).unwrap(),
                    bookmark,
                    input: values("input"),
                    stimulus: None,
                }
            }
            _ => ErrandKind::Start {
                instance,
                create: Create::new(DefinitionHandle::Version(VersionId::new("w:1").unwrap())),
                run: Run::default(),
            },
        };
        Errand {
            id: format!("errand{}", self.chance.below(6)),
            kind,
            due: self.later(),
        }
    }

    pub(super) fn new_bookmark(&mut self, instance: &InstanceId) -> Bookmark {
        let id = BookmarkId::new(&format!("{instance}:{}", self.count())).unwrap();
        self.bookmarks.push(id.clone());
        let event = format!("e{}", self.chance.below(3));
        Bookmark {
            id,
            name: "Event".to_owned(),
            hash: Stimulus::new("Event", &event.into()).unwrap().hash,
            payload: Value::Null,
            node: NodeId::new("wait").unwrap(),
            execution: ExecutionId::numbered(self.chance.below(2)),
            resume: None,
            burns: !self.chance.one_in(4),
            created: self.now,
            due: self.chance.one_in(3).then(|| self.later()),
        }
    }
}
