//! Everything that can be seen.

use super::{Both, chance::Chance};
use crate::support::soon;
use lockwork_core::workflow::SubStatus;
use lockwork_runtime::store::{
    ErrandStore, Filter, InstanceStore, Position, Record, StimulusStore,
};

/// Where instances stand is said by numbers of the store's own: their order alone counts.
fn placed(records: impl IntoIterator<Item = Record>) -> Vec<Record> {
    let records = records.into_iter();
    let nowhere = |record| Record {
        position: Position::new(0),
        ..record
    };
    records.map(nowhere).collect()
}

impl Both {
    /// Page by page both show the same, each by its own positions.
    pub(super) async fn turn_pages(&mut self, over: Option<bool>) {
        let (mut first, mut second) = (None, None);
        loop {
            let page = |after| Filter {
                over,
                after,
                limit: Some(2),
                ..Filter::default()
            };
            let memory = soon(self.memory.list(page(first))).await.unwrap();
            let sqlite = soon(self.sqlite.list(page(second))).await.unwrap();
            first = memory.last().map(|record| record.position);
            second = sqlite.last().map(|record| record.position);
            self.same(&(placed(memory), placed(sqlite)));
            if first.is_none() {
                return;
            }
        }
    }

    /// Everything that can be seen.
    pub(super) async fn look(&mut self) {
        let asked = self.log.len();
        same!(self, next_due());
        same!(self, waiting());
        same!(self, dead_letters());
        same!(self, tasks());
        let limit = self.chance.index(4);
        same!(self, timers(limit));
        let filter = Filter {
            correlation: self.chance.some(2, Chance::key),
            sub_status: Some(SubStatus::Suspended),
            limit: Some(2),
            ..Filter::default()
        };
        for filter in [Filter::default(), filter] {
            let (memory, sqlite) = both!(self, list(filter));
            self.same(&(memory.map(placed), sqlite.map(placed)));
        }
        let over = self.chance.some(2, |chance| chance.one_in(2));
        self.turn_pages(over).await;
        let instance = self.chance.instance();
        let (memory, sqlite) = both!(self, load(&instance));
        self.same(&(memory.map(placed), sqlite.map(placed)));
        same!(self, journal(&instance, 1));
        self.log.truncate(asked);
    }
}
