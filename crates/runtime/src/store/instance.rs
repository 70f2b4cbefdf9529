//! Instances: claimed before they are read, changed by whoever holds the last claim.

use super::{Errand, Filter, Held, NewJob, Record};
use lockwork_core::workflow::{Answer, Bookmark, BookmarkId, InstanceId, Time};
use lockwork_flow::{Entry, State, Task};
use std::sync::Arc;

/// An instance that shall exist.
#[derive(Clone, Debug)]
pub struct NewInstance {
    /// What is known of it.
    pub state: State,
    /// Of several with one, one may run at a time.
    pub activation: Option<String>,
    /// Of several with one, one is created.
    pub key: Option<String>,
    /// What has to be done with it, held by whoever asks for it until then.
    pub errand: Option<(Errand, Time)>,
    /// The errand that asked for it. It is done if there is an instance now; if it is refused, it is not.
    pub consumes: Option<Held>,
    /// Drawn by whoever is about to run it: then it is [claimed](Claimed::created) from the beginning.
    pub claim: Option<String>,
}

/// What became of a request to create one.
#[derive(Clone, Debug, PartialEq)]
pub enum Creation {
    /// It exists now, and this has to be done with it.
    New(Option<Box<Held>>),
    /// There is one with that id.
    Exists,
    /// An earlier request had the same key, and created this one.
    SameKey(InstanceId),
    /// Another one runs, and one only may.
    Refused(InstanceId),
}

/// A claim to an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The instance.
    pub instance: InstanceId,
    /// Which claim to it, in order.
    pub epoch: u64,
    /// Drawn by whoever claims, so that a claim that was forgotten is never taken for another.
    pub id: String,
    /// How many commits the instance has had.
    pub version: u64,
}

/// An instance that was claimed.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The claim.
    pub claim: Claim,
    /// What is known of the instance.
    pub state: Arc<State>,
    /// Whether somebody wants it ended.
    pub cancel: bool,
    /// The claim that made the last commit.
    pub committed_by: Option<String>,
}

impl Claimed {
    /// An instance that was [claimed as it was created](NewInstance::claim): by this, if it is new.
    #[must_use]
    pub fn created(new: &NewInstance) -> Option<Self> {
        let id = new.claim.clone()?;
        Some(Self {
            claim: Claim {
                instance: new.state.instance.clone(),
                epoch: 1,
                id,
                version: 0,
            },
            state: Arc::new(new.state.clone()),
            cancel: false,
            committed_by: None,
        })
    }
}

/// Everything that changes at once.
#[derive(Clone, Debug)]
pub struct Commit {
    /// What it rests on.
    pub claim: Claim,
    /// What is known of the instance from now on.
    pub state: Arc<State>,
    /// Bookmarks that were not there.
    pub added: Vec<Bookmark>,
    /// Bookmarks that are not there any more.
    pub removed: Vec<BookmarkId>,
    /// What happened.
    pub journal: Vec<Entry>,
    /// The errand that was done by this.
    pub consumes: Option<Held>,
    /// Whether that errand is not quite done, and stays with whoever has it: it says what is left. Having got on, it
    /// counts as handed out once.
    pub stays: bool,
    /// What has to be done.
    pub errands: Vec<Errand>,
    /// Long work.
    pub jobs: Vec<NewJob>,
    /// What somebody outside shall do, by the bookmark that waits for it.
    pub tasks: Vec<(BookmarkId, Task)>,
    /// What has to be done if whoever commits this does not go on, held by it until then.
    pub continues: Option<(Errand, Time)>,
    /// When.
    pub now: Time,
}

impl Commit {
    /// One that says what is known of the instance, and nothing else.
    #[must_use]
    pub const fn new(claim: Claim, state: Arc<State>, now: Time) -> Self {
        Self {
            claim,
            state,
            added: Vec::new(),
            removed: Vec::new(),
            journal: Vec::new(),
            consumes: None,
            stays: false,
            errands: Vec::new(),
            jobs: Vec::new(),
            tasks: Vec::new(),
            continues: None,
            now,
        }
    }
}

/// A commit that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// How many commits the instance has had.
    pub version: u64,
    /// Whether somebody wants the instance ended.
    pub cancel: bool,
    /// What has to be done if whoever committed this does not go on.
    pub continues: Option<Held>,
}

/// Keeps instances.
pub trait InstanceStore {
    /// Creates one, with its errand.
    ///
    /// # Errors
    /// [`Fenced`](lockwork_core::workflow::ErrorKind::Fenced) if the errand that asked for it is not held any more.
    fn create(&self, new: NewInstance) -> Answer<'_, Creation>;

    /// Claims one: its epoch rises, and whoever had claimed it before can change nothing any more.
    fn claim<'a>(&'a self, instance: &'a InstanceId, id: &'a str) -> Answer<'a, Option<Claimed>>;

    /// Writes everything, or nothing.
    ///
    /// # Errors
    /// [`Fenced`](lockwork_core::workflow::ErrorKind::Fenced) if the claim is not the last one, or the errand is not
    /// held any more; [`NotFound`](lockwork_core::workflow::ErrorKind::NotFound) if the instance was deleted;
    /// [`Conflict`](lockwork_core::workflow::ErrorKind::Conflict) if it was over, and another one with its activation
    /// key runs since. With
    /// [`Unavailable`](lockwork_core::workflow::ErrorKind::Unavailable) nobody knows whether it counts: claim again,
    /// and look who made the last commit.
    fn commit(&self, commit: Commit) -> Answer<'_, Committed>;

    /// What is known of one.
    fn load<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<Record>>;

    /// Some of them, the newest first.
    ///
    /// Whoever wants all of them page by page asks for so many, and then for those [after](Filter::after) the last one
    /// of the page before. Others that are created or removed meanwhile make none be missed and none be there twice; those
    /// that are created or imported meanwhile may be on a later page or on none.
    fn list(&self, filter: Filter) -> Answer<'_, Vec<Record>>;

    /// What happened in one, from an entry on.
    fn journal<'a>(&'a self, instance: &'a InstanceId, from: u64) -> Answer<'a, Vec<Entry>>;

    /// Asks for the end of one. Nothing, if there is none; otherwise whether it is over already. One that an errand
    /// is about to create ends as soon as it exists.
    fn request_cancel<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<bool>>;

    /// Removes one and everything that belongs to it. Says whether there was one.
    fn delete<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, bool>;

    /// Removes up to `limit` instances that were over before `before`, the first of them first, and everything that
    /// belongs to them. Says how many: as many as `limit`, and there may be more.
    fn forget(&self, before: Time, limit: usize) -> Answer<'_, usize>;

    /// Makes one what is given. Its epoch rises, so that whoever works on it is fenced off.
    fn import(&self, state: State, activation: Option<String>) -> Answer<'_, ()>;

    /// What somebody outside shall do, for all instances.
    fn tasks(&self) -> Answer<'_, Vec<Task>>;
}
