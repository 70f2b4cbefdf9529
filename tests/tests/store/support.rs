//! What the cases share: a store that nobody else uses, and the small things that are put into it.

use lockwork::{
    flow::{Definition, Entry, Happened, Job, State, Task, build},
    runtime::{
        Store,
        store::{
            Claimed, Commit, Committed, Creation, Errand, ErrandKind, Held, NewInstance, NewJob,
            Sending, Sent,
        },
    },
    workflow::{
        Bookmark, BookmarkId, DefinitionId, Error, ErrorKind, ExecutionId, InstanceId, NodeId, Run,
        Stimulus, StimulusHash, SubStatus, Time, Values, VersionId,
    },
};
use lockwork_conformance::{BoxFuture, StoreKind, StorePlace};
use serde_json::json;
use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// One fact every store must show.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) limit: Duration,
    pub(crate) body: fn(Cx) -> BoxFuture<'static, ()>,
}

/// Cases from the functions of their names.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $crate::support::cases!($crate::support::LIMIT; $($name),*)
    };
    ($limit:expr; $($name:ident),* $(,)?) => {
        vec![$($crate::support::Case {
            name: stringify!($name),
            limit: $limit,
            body: |cx| Box::pin($name(cx)),
        }),*]
    };
}
pub(crate) use cases;

/// Longer than any case takes on a busy machine, but for those with a crowd in them.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// For a crowd.
pub(crate) const CROWD: Duration = Duration::from_secs(240);

/// Why cases cannot be shown on this store.
pub(crate) fn reached(kind: StoreKind) -> Result<(), String> {
    let place = StorePlace::new(kind)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let opened = runtime.block_on(place.open());
    opened.map(drop).map_err(|error| error.to_string())
}

/// A store, and its place.
#[derive(Clone, Debug)]
pub(crate) struct Cx {
    store: Arc<dyn Store>,
    place: Arc<StorePlace>,
}

impl Deref for Cx {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

impl Cx {
    pub(crate) async fn new(kind: StoreKind) -> Self {
        let place = Arc::new(StorePlace::new(kind).expect("there is room for a store"));
        let store = place.open().await.expect("a store opens");
        Self { store, place }
    }

    /// Another handle on the same, as another node has one.
    pub(crate) async fn other(&self) -> Self {
        let store = self.place.open().await.expect("a store opens twice");
        let place = Arc::clone(&self.place);
        Self { store, place }
    }

    /// The same after everybody has left.
    pub(crate) async fn reopened(self) -> Self {
        let Self { store, place } = self;
        drop(store);
        let store = place.open().await.expect("a store opens again");
        Self { store, place }
    }

    /// Creates an instance called `id`.
    pub(crate) async fn made(&self, id: &str) {
        let creation = self.create(new(id)).await.unwrap();
        assert_eq!(creation, Creation::New(None));
    }

    pub(crate) async fn claimed(&self, id: &str) -> Claimed {
        let drawn = format!("{:016x}", rand::random::<u64>());
        let claimed = self.claim(&instance(id), &drawn).await.unwrap();
        claimed.expect("there is such an instance")
    }

    /// Claims an instance and changes it.
    pub(crate) async fn change(&self, id: &str, change: impl FnOnce(&mut Commit)) -> Committed {
        let mut commit = nothing(&self.claimed(id).await);
        change(&mut commit);
        self.commit(commit).await.unwrap()
    }

    /// Creates an instance that waits for an event, at the bookmark `{id}:1`.
    pub(crate) async fn waits(&self, id: &str, event: &str) {
        self.made(id).await;
        let mark = mark(&format!("{id}:1"), event);
        self.change(id, |commit| commit.wait(mark)).await;
    }

    /// Sends `stimulus` under a name of its own. Nobody holds what follows from it.
    pub(crate) async fn tell(&self, stimulus: Stimulus) -> Sent {
        self.send(sending(stimulus)).await.unwrap()
    }

    /// Whatever has to be done by the end of all days, in order; held from then on.
    pub(crate) async fn to_do(&self) -> Vec<Held> {
        let end = Time::from_millis(i64::MAX - 1);
        self.take(end, Time::from_millis(i64::MAX), usize::MAX)
            .await
            .unwrap()
    }

    /// What all of it is called, in order.
    pub(crate) async fn to_do_ids(&self) -> Vec<String> {
        ids(&self.to_do().await)
    }

    /// An errand that was added, and is held until `until`.
    pub(crate) async fn held(&self, errand: Errand, until: Time) -> Held {
        let (id, due) = (errand.id.clone(), errand.due);
        self.add(vec![errand]).await.unwrap();
        let taken = self.take(due, until, usize::MAX).await.unwrap();
        let held = taken.into_iter().find(|held| held.errand.id == id);
        held.expect("what was added is handed out")
    }

    /// An errand that somebody else was handed since.
    pub(crate) async fn lost(&self, errand: Errand) -> Held {
        let due = errand.due;
        let held = self.held(errand, due).await;
        let again = self.take(due, later(1000), usize::MAX).await.unwrap();
        assert_eq!(ids(&again), std::slice::from_ref(&held.errand.id));
        held
    }

    pub(crate) async fn state(&self, id: &str) -> Arc<State> {
        let record = self.load(&instance(id)).await.unwrap();
        record.expect("there is such an instance").state
    }

    pub(crate) async fn is_there(&self, id: &str) -> bool {
        self.load(&instance(id)).await.unwrap().is_some()
    }

    /// What those stimuli are called that wait, in order.
    pub(crate) async fn waiting_ids(&self) -> Vec<String> {
        let waiting = self.waiting().await.unwrap();
        waiting.into_iter().map(|one| one.id).collect()
    }
}

/// When everything begins.
pub(crate) const NOW: Time = Time::from_millis(1_767_225_600_000);

/// So many seconds later.
pub(crate) const fn later(seconds: i64) -> Time {
    Time::from_millis(NOW.as_millis() + seconds * 1000)
}

pub(crate) fn instance(id: &str) -> InstanceId {
    InstanceId::new(id).unwrap()
}

pub(crate) fn bookmark(id: &str) -> BookmarkId {
    BookmarkId::new(id).unwrap()
}

pub(crate) fn version(id: &str) -> VersionId {
    VersionId::new(id).unwrap()
}

pub(crate) fn named(id: &str) -> DefinitionId {
    DefinitionId::new(id).unwrap()
}

pub(crate) fn node(id: &str) -> NodeId {
    NodeId::new(id).unwrap()
}

/// The fields of an object.
pub(crate) fn values(value: serde_json::Value) -> Values {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn kind<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorKind {
    answer.expect_err("this should have failed").kind()
}

pub(crate) fn ids(held: &[Held]) -> Vec<String> {
    held.iter().map(|held| held.errand.id.clone()).collect()
}

pub(crate) fn state(id: &str) -> State {
    State::new(instance(id), version("w:1"), NOW)
}

/// An instance called `id`, with nothing to be done.
pub(crate) fn new(id: &str) -> NewInstance {
    NewInstance {
        state: state(id),
        activation: None,
        key: None,
        errand: None,
        consumes: None,
        claim: None,
    }
}

pub(crate) fn hash(event: &str) -> StimulusHash {
    StimulusHash::of("Event", &json!({ "name": event }), None).unwrap()
}

pub(crate) fn event(name: &str) -> Stimulus {
    Stimulus::by_hash(hash(name))
}

/// The event, for this instance alone.
pub(crate) fn event_for(name: &str, id: &str) -> Stimulus {
    let mut stimulus = event(name);
    stimulus.to.instance = Some(instance(id));
    stimulus
}

/// The event, for instances with this correlation.
pub(crate) fn event_about(name: &str, correlation: &str) -> Stimulus {
    let mut stimulus = event(name);
    stimulus.to.correlation = Some(correlation.to_owned());
    stimulus
}

/// On its way under a name of its own; nobody holds what follows from it.
pub(crate) fn sending(stimulus: Stimulus) -> Sending {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::AcqRel);
    sending_as(&format!("sent-{number:06}"), stimulus)
}

pub(crate) fn sending_as(id: &str, stimulus: Stimulus) -> Sending {
    Sending {
        id: id.to_owned(),
        stimulus,
        now: NOW,
        expires: Some(later(600)),
        consumes: None,
        hold: NOW,
    }
}

/// A bookmark at which an event is waited for.
pub(crate) fn mark(id: &str, event: &str) -> Bookmark {
    Bookmark {
        id: bookmark(id),
        name: "Event".to_owned(),
        hash: hash(event),
        payload: json!({ "name": event }),
        node: node("root/wait"),
        execution: ExecutionId::numbered(1),
        resume: None,
        burns: true,
        created: NOW,
        due: None,
    }
}

/// A bookmark that resumes by itself.
pub(crate) fn alarm(id: &str, due: Time) -> Bookmark {
    Bookmark {
        due: Some(due),
        ..mark(id, id)
    }
}

/// A run of an instance.
pub(crate) fn errand(id: &str, of: &str, due: Time) -> Errand {
    let kind = ErrandKind::Run {
        instance: instance(of),
        run: Run::default(),
    };
    Errand {
        id: id.to_owned(),
        kind,
        due,
    }
}

pub(crate) fn entry(sequence: u64, note: &str) -> Entry {
    Entry {
        sequence,
        at: NOW,
        happened: Happened::Logged,
        node: Some(node("root/log")),
        execution: None,
        note: Some(note.to_owned()),
    }
}

pub(crate) fn job(bookmark_id: &str) -> NewJob {
    NewJob {
        bookmark: bookmark(bookmark_id),
        job: Job {
            kind: "long".to_owned(),
            with: json!({ "for": bookmark_id }),
            key: format!("key of {bookmark_id}"),
        },
    }
}

pub(crate) fn task(bookmark_id: &str, of: &str) -> (BookmarkId, Task) {
    let task = Task {
        id: format!("task of {bookmark_id}"),
        name: "Pack".to_owned(),
        payload: json!({ "parcel": 1 }),
        instance: instance(of),
    };
    (bookmark(bookmark_id), task)
}

/// A workflow that says `text`.
pub(crate) fn definition(id: &str, text: &str) -> Definition {
    build::workflow(id)
        .root(build::log("say", text))
        .build()
        .unwrap()
}

/// A commit that changes nothing.
pub(crate) fn nothing(claimed: &Claimed) -> Commit {
    Commit::new(claimed.claim.clone(), Arc::clone(&claimed.state), NOW)
}

/// Changes whose parts belong together.
pub(crate) trait Changes {
    fn state(&mut self) -> &mut State;
    /// It waits at another bookmark.
    fn wait(&mut self, mark: Bookmark);
    /// It does not wait there any more.
    fn leave(&mut self, id: &str);
    /// It is over.
    fn end(&mut self);
}

impl Changes for Commit {
    fn state(&mut self) -> &mut State {
        Arc::make_mut(&mut self.state)
    }

    fn wait(&mut self, mark: Bookmark) {
        self.state().sub_status = SubStatus::Suspended;
        self.state().bookmarks.push(mark.clone());
        self.added.push(mark);
    }

    fn leave(&mut self, id: &str) {
        self.state().bookmarks.retain(|one| one.id.as_str() != id);
        self.removed.push(bookmark(id));
    }

    fn end(&mut self) {
        let left = std::mem::take(&mut self.state().bookmarks);
        self.removed.extend(left.into_iter().map(|one| one.id));
        self.state().sub_status = SubStatus::Finished;
        self.state().finished = Some(self.now);
    }
}
