//! A lock server that cannot be reached.

use crate::{
    place::{Place, key},
    support::{kind, of, soon},
    told::Told,
};
use lockwork::{
    ErrorKind as Lock,
    flow::build::*,
    workflow::{CreateAndRun, ErrorKind, Run, SubStatus},
};

/// What becomes of a run, and how often the lock was asked for.
async fn run_after(failures: &[Lock]) -> (Result<SubStatus, ErrorKind>, usize) {
    let place = Place::new();
    let world = place.world().await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    place.fail(failures.iter().copied());
    let ran = soon(world.client("a").run(Run::default())).await;
    let ran = match ran {
        Ok(ran) => Ok(ran.sub_status),
        failed => Err(kind(failed)),
    };
    let names = place.names();
    assert!(names.iter().all(|name| *name == key("a")));
    (ran, names.len())
}

#[tokio::test]
async fn a_lock_server_that_cannot_be_reached_is_asked_four_times() {
    let away = [Lock::Unavailable; 4];
    let finished = Ok(SubStatus::Finished);
    assert_eq!(run_after(&[]).await, (finished, 1));
    assert_eq!(run_after(&away[..1]).await, (finished, 2));
    assert_eq!(run_after(&away[..3]).await, (finished, 4));
    let failed = Err(ErrorKind::Unavailable);
    assert_eq!(run_after(&away).await, (failed, 4));
}

#[tokio::test]
async fn what_would_be_the_same_a_moment_later_is_not_retried() {
    assert_eq!(
        run_after(&[Lock::Denied]).await,
        (Err(ErrorKind::Denied), 1)
    );
    let failed = (Err(ErrorKind::Unexpected), 1);
    assert_eq!(run_after(&[Lock::Unexpected]).await, failed);
}

#[tokio::test]
async fn each_retry_is_told_with_its_number() {
    let told = Told::new();
    let (ran, _) = run_after(&[Lock::Unavailable; 3]).await;
    assert_eq!(ran, Ok(SubStatus::Finished));
    for number in ["retry=1", "retry=2", "retry=3"] {
        assert_eq!(told.count(&["WARN", "tried again", number]), 1, "{number}");
    }
    assert_eq!(told.count(&["tried again"]), 3);
}

#[tokio::test]
async fn what_could_not_be_locked_is_done_later_because_it_was_written_down() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    place.fail([Lock::Unavailable; 4]);
    let request = CreateAndRun::new(of("w"));
    let failed = soon(world.client("a").create_and_run(request)).await;
    assert_eq!(kind(failed), ErrorKind::Unavailable);
    assert_eq!(world.status("a").await, SubStatus::Pending);
    world.advance(crate::support::PAST_HOLD).await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}
