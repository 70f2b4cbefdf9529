//! Seeing who holds what, breaking a lock, and looking at the deployment.

use super::{Case, Need, case};
use crate::{
    Context, Promise,
    context::{SOON, until, within},
};
use lockwork::{ErrorKind, Held, Holder, Locks, Mode, Space};

const KNOWS_HOLDERS: Need = Need::Promise(Promise::KnowsHolders);
const LISTS_HELD: Need = Need::Promise(Promise::ListsHeld);

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(holders_are_told_with_mode_and_token).needs(&[KNOWS_HOLDERS]),
        case!(what_is_held_is_listed_and_what_was_given_back_is_not).needs(&[LISTS_HELD]),
        case!(readers_are_listed_as_such).needs(&[LISTS_HELD, Need::RwLock]),
        case!(permits_are_listed_as_such).needs(&[LISTS_HELD, Need::Semaphore]),
        case!(who_waits_is_told).needs(&[Need::Promise(Promise::KnowsWaiters)]),
        case!(a_broken_lock_is_lost_and_its_next_token_is_higher).needs(&[KNOWS_HOLDERS]),
        case!(a_lock_nobody_holds_can_be_broken_without_harm).needs(&[KNOWS_HOLDERS]),
        case!(readers_are_broken_all_at_once).needs(&[KNOWS_HOLDERS, Need::RwLock]),
        case!(permits_are_broken_all_at_once).needs(&[KNOWS_HOLDERS, Need::Semaphore]),
        case!(the_doctor_finds_nothing_unsafe_here),
    ]
}

async fn holders_are_told_with_mode_and_token(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    assert!(
        there
            .mutex(&name)
            .holders()
            .await
            .unwrap()
            .holders
            .is_empty()
    );
    let guard = here.mutex(&name).lock().await.unwrap();
    let told = there.mutex(&name).holders().await.unwrap();
    assert_eq!(told.holders.len(), 1);
    assert_eq!(told.holders[0].mode, Mode::Exclusive);
    if cx.harness.promises(Promise::KnowsTokens) {
        assert_eq!(told.holders[0].token, guard.token());
    }
    let full = format!("{:?}", told.holders[0].owner);
    assert!(
        full.len() < 32,
        "an owner id is a key to its lock and is not shown whole: {full}"
    );
    guard.release().await.unwrap();
    assert!(
        there
            .mutex(&name)
            .holders()
            .await
            .unwrap()
            .holders
            .is_empty()
    );
}

/// What is listed of this case's names.
async fn listed(cx: &Context, locks: &Locks) -> Vec<Held> {
    locks.held(&cx.name("")).await.unwrap()
}

/// Whether a name that is listed is that one, as far as is told.
fn is_called(held: &Held, name: &str) -> bool {
    let alike = |(told, letter): (char, char)| told == letter || told == '_';
    match held.is_whole {
        true => held.name == name,
        false => held.name.chars().zip(name.chars()).all(alike),
    }
}

async fn what_is_held_is_listed_and_what_was_given_back_is_not(cx: Context) {
    let (here, there) = (cx.client().await, cx.client().await);
    let (one, two) = (cx.name("one"), cx.name("two"));
    assert!(listed(&cx, &there).await.is_empty());
    let first = here.mutex(&one).lock().await.unwrap();
    let second = here.mutex(&two).lock().await.unwrap();
    let held = listed(&cx, &there).await;
    assert_eq!(held.len(), 2, "{held:?}");
    let knows_tokens = cx.harness.promises(Promise::KnowsTokens);
    // Where only the beginning of a name is known, tokens tell two apart that begin alike.
    for (name, guard) in [(&one, &first), (&two, &second)] {
        let is_this = |held: &&Held| {
            let holders = &held.holders.holders;
            let is_its = |holder: &Holder| !knows_tokens || holder.token == guard.token();
            is_called(held, name) && holders.len() == 1 && holders.iter().all(is_its)
        };
        let found = held.iter().find(is_this);
        assert_eq!(found.map(|held| held.space), Some(Space::Mutex), "{held:?}");
    }
    first.release().await.unwrap();
    let held = listed(&cx, &there).await;
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(is_called(&held[0], &two), "{held:?}");
    second.release().await.unwrap();
    assert!(listed(&cx, &there).await.is_empty());
}

async fn readers_are_listed_as_such(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let readers = [
        here.rw_lock(&name).read().await.unwrap(),
        there.rw_lock(&name).read().await.unwrap(),
    ];
    let held = listed(&cx, &there).await;
    assert_eq!((held.len(), held[0].space), (1, Space::RwLock), "{held:?}");
    let modes = held[0].holders.holders.iter().map(|holder| holder.mode);
    assert_eq!(modes.collect::<Vec<_>>(), [Mode::Read; 2]);
    for reader in readers {
        reader.release().await.unwrap();
    }
    let writer = here.rw_lock(&name).write().await.unwrap();
    let held = listed(&cx, &there).await;
    assert_eq!(held[0].holders.holders.len(), 1, "{held:?}");
    assert_eq!(held[0].holders.holders[0].mode, Mode::Write);
    writer.release().await.unwrap();
    assert!(listed(&cx, &there).await.is_empty());
}

async fn permits_are_listed_as_such(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let first = here.semaphore(&name, 2).acquire().await.unwrap();
    let second = there.semaphore(&name, 2).acquire().await.unwrap();
    let held = listed(&cx, &here).await;
    assert_eq!(
        (held.len(), held[0].space),
        (1, Space::Semaphore),
        "{held:?}"
    );
    assert_eq!(held[0].holders.holders.len(), 2, "{held:?}");
    first.release().await.unwrap();
    assert_eq!(listed(&cx, &here).await[0].holders.holders.len(), 1);
    second.release().await.unwrap();
    assert!(listed(&cx, &here).await.is_empty());
}

async fn who_waits_is_told(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here.mutex(&name).lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex(&name);
        async move { mutex.lock().await.unwrap() }
    });
    cx.until_waiting(&here, &name, 1).await;
    let told = here.mutex(&name).holders().await.unwrap();
    assert_eq!((told.holders.len(), told.waiting.len()), (1, 1));
    assert_eq!(told.waiting[0].mode, Mode::Exclusive);
    guard.release().await.unwrap();
    drop(within(SOON, "who waited gets in", waiting).await.unwrap());
}

async fn a_broken_lock_is_lost_and_its_next_token_is_higher(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here.mutex(&name).lock().await.unwrap();
    let broken = there
        .mutex(&name)
        .break_lock("the holder hangs")
        .await
        .unwrap();
    assert_eq!(broken, 1);
    let next = there
        .mutex(&name)
        .try_lock_for(SOON)
        .await
        .unwrap()
        .expect("free after that");
    assert!(guard.token().is_none() || next.token() > guard.token());
    until(cx.harness.notice(), "the holder is told", || {
        !guard.is_valid()
    })
    .await;
    assert_eq!(guard.release().await.unwrap_err().kind(), ErrorKind::Lost);
    assert!(next.is_valid());
    assert!(
        here.mutex(&name).try_lock().await.unwrap().is_none(),
        "freed by a stranger"
    );
}

async fn a_lock_nobody_holds_can_be_broken_without_harm(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    assert_eq!(locks.mutex(&name).break_lock("to see").await.unwrap(), 0);
    assert!(locks.mutex(&name).try_lock().await.unwrap().is_some());
}

async fn readers_are_broken_all_at_once(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (lock, other_lock) = (here.rw_lock(&name), there.rw_lock(&name));
    let readers = [lock.read().await.unwrap(), other_lock.read().await.unwrap()];
    assert_eq!(lock.break_lock("to see").await.unwrap(), 2);
    let all_told = || readers.iter().all(|guard| !guard.is_valid());
    until(cx.harness.notice(), "all readers are told", all_told).await;
    assert!(lock.try_write_for(SOON).await.unwrap().is_some());
}

async fn permits_are_broken_all_at_once(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (permits, other_permits) = (here.semaphore(&name, 2), there.semaphore(&name, 2));
    let permitted = [
        permits.acquire().await.unwrap(),
        other_permits.acquire().await.unwrap(),
    ];
    assert_eq!(permits.break_lock("to see").await.unwrap(), 2);
    let all_told = || permitted.iter().all(|guard| !guard.is_valid());
    until(cx.harness.notice(), "all permits are told", all_told).await;
    assert!(permits.try_acquire_for(SOON).await.unwrap().is_some());
}

async fn the_doctor_finds_nothing_unsafe_here(cx: Context) {
    let report = cx.client().await.doctor().await.unwrap();
    assert!(report.is_safe(), "{report:?}");
    for finding in report.findings {
        assert!(!finding.what.is_empty() && !finding.remedy.is_empty());
    }
}
