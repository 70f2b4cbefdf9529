//! What is told about locks.

use crate::{
    common::{alone, beside, eventually, ms, poll_once},
    log,
    moody::{Answer, Moody},
};
use lockwork_core::lock::{
    Backend, ErrorKind, Locks, Memory, Mode, Request, Wait,
    backend::keeper,
    layers::{Layer, Trace},
    {Deadline, LockOptions, Name},
};
use tracing::Level;

fn traced(backend: impl Backend) -> Locks {
    log::listen();
    Locks::new(backend).layer(Trace::new())
}

#[tokio::test]
async fn a_grant_and_its_release_are_told_with_token_and_times() {
    beside(ms(5000), async {
        let locks = traced(Memory::new());
        let guard = locks.mutex("trace/grant").lock().await.unwrap();
        let told = log::said("trace/grant", "granted");
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].level, Level::DEBUG);
        assert_eq!(told[0].field("mode"), "exclusive");
        assert_eq!(told[0].field("outcome"), "granted");
        assert_eq!(told[0].field("token"), guard.token().unwrap().to_string());
        assert!(told[0].field("waited").ends_with('s'));
        guard.release().await.unwrap();
        let told = log::said("trace/grant", "released");
        assert!(told[0].field("held").ends_with('s'));
        // The span and the two events.
        assert_eq!(log::about("trace/grant").len(), 3);
    })
    .await;
}

#[tokio::test]
async fn busy_and_abandoned_requests_are_told() {
    beside(ms(5000), async {
        let locks = traced(Memory::new());
        let _guard = locks.mutex("trace/busy").lock().await.unwrap();
        let options = LockOptions::new().wait(Wait::For(ms(20)));
        let waited = locks.mutex("trace/busy").lock_with(options).await.unwrap();
        assert!(waited.is_none());
        assert_eq!(log::said("trace/busy", "busy until the deadline").len(), 1);
        let mutex = locks.mutex("trace/busy");
        let mut waiting = Box::pin(mutex.lock());
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        let told = log::said("trace/busy", "given up before there was an answer");
        assert_eq!(told.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn failures_are_told_as_warnings() {
    beside(ms(5000), async {
        let moody = Moody::answering([Answer::Fails(ErrorKind::Denied)]);
        let locks = traced(moody.clone());
        assert!(locks.mutex("trace/fail").lock().await.is_err());
        let told = log::said("trace/fail", "could not be acquired");
        assert_eq!((told.len(), told[0].level), (1, Level::WARN));
        assert_eq!(told[0].field("error"), "not in the mood");

        let guard = locks.mutex("trace/fail").lock().await.unwrap();
        moody.fail_releases();
        assert!(guard.release().await.is_err());
        let told = log::said("trace/fail", "could not be released");
        assert_eq!((told.len(), told[0].level), (1, Level::WARN));
    })
    .await;
}

#[tokio::test]
async fn a_loss_is_told_when_it_happens_and_once() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = traced(memory.clone());
        let guard = locks.mutex("trace/loss").lock().await.unwrap();
        let lost = || log::said("trace/loss", "lost while it was held");
        assert!(lost().is_empty());
        memory.forget_everything();
        eventually("the loss is told while the guard lives", || {
            !lost().is_empty()
        })
        .await;
        assert_eq!(lost()[0].level, Level::WARN);
        assert!(guard.release().await.is_err());
        assert_eq!(lost().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_given_back_is_not_told_as_lost() {
    beside(ms(5000), async {
        let moody = Moody::default();
        let locks = traced(moody.clone());
        let guard = locks.mutex("trace/back").lock().await.unwrap();
        moody.forget_on_release();
        guard.release().await.unwrap();
        let sentinel = locks.mutex("trace/sentinel").lock().await.unwrap();
        moody.forget();
        let lost = |name| log::said(name, "lost while it was held");
        eventually("a later loss is told", || {
            !lost("trace/sentinel").is_empty()
        })
        .await;
        assert!(lost("trace/back").is_empty());
        drop(sentinel);
    })
    .await;
}

#[tokio::test]
async fn waiting_for_losses_costs_no_task() {
    alone(ms(10_000), async {
        let locks = traced(Memory::new());
        drop(locks.mutex("trace/tasks").lock().await.unwrap());
        let before = keeper::tasks();
        let mut guards = Vec::new();
        for number in 0..100 {
            let mutex = locks.mutex(format!("trace/tasks/{number}"));
            guards.push(mutex.lock().await.unwrap());
        }
        assert!(keeper::tasks() <= before);
        let alive = tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks();
        assert!(alive <= 1, "{alive} tasks");
    })
    .await;
}

#[tokio::test]
async fn a_loss_is_heard_by_a_task_that_has_used_up_its_budget() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let traced = Trace::new().layer(memory.clone());
        log::listen();
        while tokio::task::coop::has_budget_remaining() {
            let mut spent = Box::pin(tokio::task::coop::consume_budget());
            let _ = poll_once(&mut spent);
        }
        let name = Name::new("trace/budget").unwrap();
        let request = Request::new(name, Mode::Exclusive, Deadline::Now);
        let _hold = traced.acquire(request).await.unwrap().unwrap();
        // Whoever was told to come back is, when this yields; that must not have been the listener.
        tokio::time::sleep(ms(5)).await;
        memory.forget_everything();
        let lost = || log::said("trace/budget", "lost while it was held");
        eventually("the loss is told", || !lost().is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn upgrades_are_told_with_their_token() {
    beside(ms(5000), async {
        let locks = traced(Memory::new());
        let lock = locks.rw_lock("trace/upgrade");
        let mut guard = lock.upgradeable_read().await.unwrap();
        guard.upgrade().await.unwrap();
        let told = log::said("trace/upgrade", "granted");
        let modes: Vec<_> = told.iter().map(|line| line.field("mode")).collect();
        assert_eq!(modes, ["upgradeable", "upgrade"]);
        assert_eq!(told[1].field("token"), guard.token().unwrap().to_string());
    })
    .await;
}

#[tokio::test]
async fn owner_ids_are_shortened() {
    beside(ms(5000), async {
        let locks = traced(Memory::new());
        drop(locks.mutex("trace/owner").lock().await.unwrap());
        let lines = log::about("trace/owner");
        assert!(!lines.is_empty());
        for line in lines {
            assert!(line.field("owner").ends_with('…'), "{line:?}");
            assert!(line.field("owner").len() < 16, "{line:?}");
        }
    })
    .await;
}
