//! Whatever is asked for, in whatever order, a store in a file and one in memory say the same.

use crate::support::{Place, at, entry, soon, values};
use lockwork_core::workflow::{
    Bookmark, BookmarkId, Create, DefinitionHandle, DefinitionId, ExecutionId, InstanceId, NodeId,
    Run, Stimulus, SubStatus, Time, Value, VersionId,
};
use lockwork_flow::{Job, Schedule, State, Task, build};
use lockwork_runtime::{
    MemoryStore,
    store::{
        Claimed, Commit, Creation, DefinitionStore, Errand, ErrandKind, ErrandStore, Filter, Held,
        InstanceStore, JobStore, NewInstance, NewJob, NewVersion, Position, Record, Release,
        Sending, StimulusStore, TakenJob, TriggerRow,
    },
};
use lockwork_store::sqlite::SqliteStore;
use std::{fmt::Debug, sync::Arc};

/// Numbers that are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    fn some<T>(&mut self, one_in: u64, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(one_in).then(|| value(self))
    }

    fn instance(&mut self) -> InstanceId {
        InstanceId::new(&format!("i{}", self.below(5))).unwrap()
    }

    fn key(&mut self) -> String {
        format!("k{}", self.below(4))
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    fn stimulus(&mut self, bookmarks: &[BookmarkId]) -> Stimulus {
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

/// Where instances stand is said by numbers of the store's own: their order alone counts.
fn placed(records: impl IntoIterator<Item = Record>) -> Vec<Record> {
    let records = records.into_iter();
    let nowhere = |record| Record {
        position: Position::new(0),
        ..record
    };
    records.map(nowhere).collect()
}

/// The same errand, as each store has handed it out.
type Pair<T> = (T, T);

struct Both {
    memory: MemoryStore,
    sqlite: SqliteStore,
    chance: Chance,
    now: Time,
    held: Vec<Pair<Held>>,
    jobs: Vec<Pair<TakenJob>>,
    claims: Vec<Claimed>,
    bookmarks: Vec<BookmarkId>,
    counted: u64,
    /// What was asked for, for whoever has to find out why the stores differ.
    log: Vec<String>,
}

/// Asks both for the same.
macro_rules! both {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        $self.log.push(format!(concat!(stringify!($method), "{:?}"), ($(&$argument,)*)));
        let memory = soon($self.memory.$method($(Clone::clone(&$argument)),*)).await;
        let sqlite = soon($self.sqlite.$method($(Clone::clone(&$argument)),*)).await;
        (memory.map_err(|error| error.kind()), sqlite.map_err(|error| error.kind()))
    }};
}

/// Asks both for the same, and looks whether they say the same.
macro_rules! same {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        let said = both!($self, $method($($argument),*));
        $self.same(&said);
    }};
}

impl Both {
    fn same<T: Debug>(&self, (memory, sqlite): &(T, T)) {
        let (memory, sqlite) = (format!("{memory:?}"), format!("{sqlite:?}"));
        if memory != sqlite {
            let from = self.log.len().saturating_sub(40);
            panic!(
                "{}\nin memory: {memory}\nin a file: {sqlite}",
                self.log[from..].join("\n")
            );
        }
    }

    fn count(&mut self) -> u64 {
        self.counted += 1;
        self.counted
    }

    fn later(&mut self) -> Time {
        let now = self.now.as_millis();
        at(now + i64::try_from(self.chance.below(20)).unwrap())
    }

    /// Keeps what both have handed out, and looks whether it is the same. Which of several errands that one commit has
    /// asked for comes first is nobody's business.
    fn keep(&mut self, (mut memory, mut sqlite): (Vec<Held>, Vec<Held>)) {
        let of = |all: &mut Vec<Held>| -> Vec<_> {
            all.sort_unstable_by(|one, other| one.errand.id.cmp(&other.errand.id));
            let all = all.iter();
            all.map(|held| (held.errand.clone(), held.attempt))
                .collect()
        };
        self.same(&(of(&mut memory), of(&mut sqlite)));
        self.held.extend(memory.into_iter().zip(sqlite));
    }

    /// An errand that is done by what asks for these. (Nothing asks for what it does.)
    fn some_other(&mut self, than: &[&Errand]) -> (Option<Held>, Option<Held>) {
        let held = self.some_held();
        let other = held.filter(|(held, _)| than.iter().all(|one| one.id != held.errand.id));
        other.map_or((None, None), |(memory, sqlite)| {
            (Some(memory), Some(sqlite))
        })
    }

    /// An errand that was handed out once, and perhaps to somebody else since.
    fn some_held(&mut self) -> Option<Pair<Held>> {
        if self.held.is_empty() || self.chance.one_in(3) {
            return None;
        }
        let at = self.chance.index(self.held.len());
        Some(match self.chance.one_in(4) {
            true => self.held[at].clone(),
            false => self.held.swap_remove(at),
        })
    }

    fn new_errand(&mut self) -> Errand {
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

    fn new_bookmark(&mut self, instance: &InstanceId) -> Bookmark {
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

    async fn create(&mut self) {
        let mut state = State::new(
            self.chance.instance(),
            VersionId::new("w:1").unwrap(),
            self.now,
        );
        state.correlation = self.chance.some(2, Chance::key);
        let new = NewInstance {
            state,
            activation: self.chance.some(3, Chance::key),
            key: self
                .chance
                .some(3, |chance| format!("{}/{}", chance.key(), chance.below(20))),
            errand: self
                .chance
                .one_in(2)
                .then(|| (self.new_errand(), self.later())),
            consumes: None,
            claim: self.chance.some(3, Chance::key),
        };

        let asked: Vec<_> = new.errand.iter().map(|(errand, _)| errand).collect();
        let (memory, sqlite) = self.some_other(&asked);
        self.log.push(format!("create {new:?} consumes {memory:?}"));
        let memory = NewInstance {
            consumes: memory,
            ..new.clone()
        };
        let sqlite = NewInstance {
            consumes: sqlite,
            ..new
        };
        let memory = soon(self.memory.create(memory))
            .await
            .map_err(|error| error.kind());
        let sqlite = soon(self.sqlite.create(sqlite))
            .await
            .map_err(|error| error.kind());
        match (memory, sqlite) {
            (Ok(Creation::New(memory)), Ok(Creation::New(sqlite))) => {
                let held = |one: Option<Box<Held>>| one.into_iter().map(|held| *held).collect();
                self.keep((held(memory), held(sqlite)));
            }
            other => self.same(&other),
        }
    }

    async fn claim(&mut self) {
        let (instance, id) = (self.chance.instance(), format!("claim{}", self.count()));
        self.log.push(format!("claim {instance} {id}"));
        let memory = soon(self.memory.claim(&instance, &id)).await.unwrap();
        let sqlite = soon(self.sqlite.claim(&instance, &id)).await.unwrap();
        self.same(&(&memory, &sqlite));
        self.claims.extend(memory);
    }

    /// What becomes of an instance in a commit.
    fn next_state(&mut self, claimed: &Claimed) -> (State, Vec<Bookmark>, Vec<BookmarkId>) {
        let mut state = State::clone(&claimed.state);
        let waiting = state.waiting().to_vec();
        let mut removed = Vec::new();
        state.bookmarks.clear();
        if !self.chance.one_in(5) {
            state.sub_status = SubStatus::Suspended;
            state.finished = None;
            state.bookmarks = waiting.clone();
            state.bookmarks.retain(|_| !self.chance.one_in(3));
        } else {
            state.sub_status = SubStatus::Faulted;
            state.finished = Some(self.now);
        }
        for one in &waiting {
            if !state.bookmarks.contains(one) {
                removed.push(one.id.clone());
            }
        }
        let mut added = Vec::new();
        if state.sub_status == SubStatus::Suspended {
            for _ in 0..self.chance.below(3) {
                added.push(self.new_bookmark(&state.instance.clone()));
            }
            state.bookmarks.extend(added.iter().cloned());
        }
        if self.chance.one_in(4) {
            state.correlation = self.chance.some(2, Chance::key);
        }
        (state, added, removed)
    }

    async fn commit(&mut self) {
        if self.claims.is_empty() {
            return;
        }
        let which = self.chance.index(self.claims.len());
        let claimed = self.claims.swap_remove(which);
        let (mut state, added, removed) = self.next_state(&claimed);
        let journal: Vec<_> = (0..self.chance.below(3))
            .map(|n| entry(state.entries + n))
            .collect();
        state.entries += journal.len() as u64;
        let job = Job {
            kind: "shell".to_owned(),
            with: Value::Null,
            key: "key".to_owned(),
        };
        let task = Task {
            id: "task".to_owned(),
            name: "do".to_owned(),
            payload: Value::Null,
            instance: state.instance.clone(),
        };
        let wanted = added.first().map(|one| one.id.clone());
        let job = wanted
            .clone()
            .filter(|_| self.chance.one_in(2))
            .map(|bookmark| NewJob { bookmark, job });
        let task = wanted
            .filter(|_| self.chance.one_in(3))
            .map(|bookmark| (bookmark, task));
        let errands = self.chance.one_in(2).then(|| self.new_errand());
        // What resumes a bookmark is never asked for by the commit that adds it.
        let resumes = |errand: &Errand| matches!(errand.kind, ErrandKind::Deliver { .. });
        let errands: Vec<_> = errands.into_iter().filter(|one| !resumes(one)).collect();
        let continues = self
            .chance
            .one_in(3)
            .then(|| (self.new_errand(), self.later()));
        let continues = continues.filter(|(errand, _)| !resumes(errand));
        let commit = Commit {
            claim: claimed.claim,
            added,
            removed,
            journal,
            consumes: None,
            stays: self.chance.one_in(3),
            errands,
            jobs: job.into_iter().collect(),
            tasks: task.into_iter().collect(),
            continues,
            now: self.now,
            state: Arc::new(state),
        };

        let continues = commit.continues.iter().map(|(errand, _)| errand);
        let asked: Vec<_> = commit.errands.iter().chain(continues).collect();
        let (memory, sqlite) = self.some_other(&asked);
        self.log.push(format!("{commit:?} consumes {memory:?}"));
        let memory = Commit {
            consumes: memory,
            ..commit.clone()
        };
        let sqlite = Commit {
            consumes: sqlite,
            ..commit
        };
        let mut memory = soon(self.memory.commit(memory))
            .await
            .map_err(|error| error.kind());
        let mut sqlite = soon(self.sqlite.commit(sqlite))
            .await
            .map_err(|error| error.kind());
        if let (Ok(memory), Ok(sqlite)) = (&mut memory, &mut sqlite) {
            let (memory, sqlite) = (memory.continues.take(), sqlite.continues.take());
            self.keep((memory.into_iter().collect(), sqlite.into_iter().collect()));
        }
        self.same(&(memory, sqlite));
    }

    async fn send(&mut self) {
        let stimulus = self.chance.stimulus(&self.bookmarks);
        let sending = Sending {
            id: format!("s{}", self.count()),
            stimulus,
            now: self.now,
            expires: self.chance.one_in(2).then(|| self.later()),
            consumes: None,
            hold: self.later(),
        };

        let (memory, sqlite) = self.some_other(&[]);
        self.log.push(format!("{sending:?} consumes {memory:?}"));
        let memory = Sending {
            consumes: memory,
            ..sending.clone()
        };
        let sqlite = Sending {
            consumes: sqlite,
            ..sending
        };
        let memory = soon(self.memory.send(memory))
            .await
            .map_err(|error| error.kind());
        let sqlite = soon(self.sqlite.send(sqlite))
            .await
            .map_err(|error| error.kind());
        match (memory, sqlite) {
            (Ok(memory), Ok(sqlite)) => {
                self.same(&(
                    (memory.queued, memory.duplicate),
                    (sqlite.queued, sqlite.duplicate),
                ));
                self.keep((memory.errands, sqlite.errands));
            }
            other => self.same(&other),
        }
    }

    async fn take(&mut self) {
        let (until, limit) = (self.later(), self.chance.index(2) * 1000);
        let taken = both!(self, take(self.now, until, limit));
        self.keep((taken.0.unwrap(), taken.1.unwrap()));
    }

    async fn give_back(&mut self) {
        let Some((memory, sqlite)) = self.some_held() else {
            return;
        };
        let (now, later) = (self.now, self.later());
        let what = self.chance.below(5);
        self.log.push(format!("give back {what} {memory:?}"));
        let release = Release {
            due: later,
            counts: self.chance.one_in(2),
            error: None,
        };
        let said = match what {
            0 => (
                soon(self.memory.release(&memory, release.clone()))
                    .await
                    .map(|()| true),
                soon(self.sqlite.release(&sqlite, release))
                    .await
                    .map(|()| true),
            ),
            1 => (
                soon(self.memory.done(&memory)).await,
                soon(self.sqlite.done(&sqlite)).await,
            ),
            2 => (
                soon(self.memory.bury(&memory, "why", now))
                    .await
                    .map(|()| true),
                soon(self.sqlite.bury(&sqlite, "why", now))
                    .await
                    .map(|()| true),
            ),
            3 => (
                soon(self.memory.redirect(&memory, now, later))
                    .await
                    .map(|()| true),
                soon(self.sqlite.redirect(&sqlite, now, later))
                    .await
                    .map(|()| true),
            ),
            _ => (
                soon(self.memory.renew(std::slice::from_ref(&memory), later))
                    .await
                    .map(|lost| lost.is_empty()),
                soon(self.sqlite.renew(std::slice::from_ref(&sqlite), later))
                    .await
                    .map(|lost| lost.is_empty()),
            ),
        };
        self.same(&(
            said.0.map_err(|error| error.kind()),
            said.1.map_err(|error| error.kind()),
        ));
    }

    async fn jobs(&mut self) {
        let (until, limit) = (self.later(), self.chance.index(3));
        let (memory, sqlite) = both!(self, take_jobs(self.now, until, limit));
        let (memory, sqlite) = (memory.unwrap(), sqlite.unwrap());
        let of = |all: &[TakenJob]| -> Vec<_> {
            all.iter()
                .map(|job| (job.bookmark.clone(), job.job.clone(), job.attempt))
                .collect()
        };
        self.same(&(of(&memory), of(&sqlite)));
        self.jobs.extend(memory.into_iter().zip(sqlite));
        if self.jobs.is_empty() {
            return;
        }
        let at = self.chance.index(self.jobs.len());
        let (memory, sqlite) = self.jobs.swap_remove(at);
        let what = self.chance.below(3);
        self.log.push(format!("job {what} {memory:?}"));
        let said = match what {
            0 => {
                let memory = std::slice::from_ref(&memory);
                soon(self.memory.release_jobs(memory, self.now))
                    .await
                    .unwrap();
                let sqlite = std::slice::from_ref(&sqlite);
                soon(self.sqlite.release_jobs(sqlite, self.now))
                    .await
                    .unwrap();
                (true, true)
            }
            1 => (
                soon(self.memory.finish_job(&memory, values("done"), self.now))
                    .await
                    .unwrap(),
                soon(self.sqlite.finish_job(&sqlite, values("done"), self.now))
                    .await
                    .unwrap(),
            ),
            _ => (
                soon(self.memory.renew_jobs(std::slice::from_ref(&memory), until))
                    .await
                    .unwrap()
                    .is_empty(),
                soon(self.sqlite.renew_jobs(std::slice::from_ref(&sqlite), until))
                    .await
                    .unwrap()
                    .is_empty(),
            ),
        };
        self.same(&said);
    }

    async fn define(&mut self) {
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

    async fn rest(&mut self) {
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

    /// Page by page both show the same, each by its own positions.
    async fn turn_pages(&mut self, over: Option<bool>) {
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
    async fn look(&mut self) {
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

async fn compare(seed: u64, steps: usize) {
    let place = Place::new();
    let mut both = Both {
        memory: MemoryStore::new(),
        sqlite: place.open().await,
        chance: Chance(seed),
        now: at(1000),
        held: Vec::new(),
        jobs: Vec::new(),
        claims: Vec::new(),
        bookmarks: Vec::new(),
        counted: 0,
        log: Vec::new(),
    };
    for step in 0..steps {
        both.now = at(1000 + i64::try_from(step).unwrap());
        match both.chance.below(16) {
            0 | 1 => both.create().await,
            2 | 3 => both.claim().await,
            4..=6 => both.commit().await,
            7..=9 => both.send().await,
            10 => both.take().await,
            11 | 12 => both.give_back().await,
            13 => both.jobs().await,
            14 => both.define().await,
            _ => both.rest().await,
        }
        both.look().await;
    }
}

/// How many histories are tried, unless somebody wants more.
const HISTORIES: u64 = 6;

#[tokio::test]
async fn a_store_in_a_file_does_what_one_in_memory_does() {
    let histories = std::env::var("LOCKWORK_HISTORIES");
    let histories = histories.map_or(HISTORIES, |many| many.parse().unwrap());
    for seed in 1..=histories {
        compare(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), 500).await;
    }
}
