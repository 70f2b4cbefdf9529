//! Asking again.

use crate::{
    common::{ms, mutex_id, within},
    log,
    moody::{Answer, Moody},
};
use lockwork_core::lock::{
    Backend, Deadline, ErrorKind, Hold, Instant, Locks, Mode, Name, Request, Result,
    layers::{Layer, Retry},
};
use std::time::Duration;
use tracing::Level;

const AWAY: Answer = Answer::Fails(ErrorKind::Unavailable);
const LONG: Duration = Duration::from_secs(3600);

fn request(name: &str, deadline: Deadline) -> Request {
    Request::new(Name::new(name).unwrap(), Mode::Exclusive, deadline)
}

/// Asks once, through a retry, for what answers so; what came of it and how often it was asked.
async fn ask(
    answers: impl IntoIterator<Item = Answer>,
    deadline: Deadline,
) -> (Result<bool>, Moody) {
    let moody = Moody::answering(answers);
    let retried = Retry::new().layer(moody.clone());
    let answer = within(LONG, retried.acquire(request("retry/ask", deadline))).await;
    (answer.map(|hold| hold.is_some()), moody)
}

#[tokio::test(start_paused = true)]
async fn what_fails_is_asked_three_times_more_after_growing_pauses() {
    let (answer, moody) = ask(vec![AWAY; 5], Deadline::Never).await;
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Unavailable);
    let times: Vec<_> = moody.asked().iter().map(|asked| asked.at).collect();
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses.len(), 3, "{pauses:?}");
    for (pause, least) in pauses.iter().zip([500, 1000, 2000]) {
        // A timer of tokio's ends up to a millisecond late.
        assert!(
            (ms(least)..=ms(2 * least + 1)).contains(pause),
            "{pauses:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_same_owner_and_deadline() {
    let (_, moody) = ask(vec![AWAY; 3], Deadline::At(Instant::now() + LONG)).await;
    let requests = moody.requests();
    assert_eq!(requests.len(), 4);
    let first = (requests[0].owner, requests[0].deadline);
    assert!(
        requests
            .iter()
            .all(|one| (one.owner, one.deadline) == first)
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_is_not_seen() {
    let (answer, moody) = ask(vec![AWAY; 3], Deadline::Never).await;
    assert!(answer.unwrap());
    assert_eq!(moody.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_failure_for_good_is_not_retried() {
    for kind in [ErrorKind::Denied, ErrorKind::Invalid, ErrorKind::Unexpected] {
        let (answer, moody) = ask([Answer::Fails(kind)], Deadline::Never).await;
        assert_eq!(answer.unwrap_err().kind(), kind);
        assert_eq!(moody.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn busy_is_never_retried() {
    let (answer, moody) = ask([Answer::Busy], Deadline::Never).await;
    assert!(!answer.unwrap());
    assert_eq!(moody.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_pause_goes_past_the_deadline() {
    let begun = tokio::time::Instant::now();
    for deadline in [Deadline::Now, Deadline::At(Instant::now() + ms(400))] {
        let (answer, moody) = ask([AWAY], deadline).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(moody.requests().len(), 1);
    }
    assert_eq!(begun.elapsed(), Duration::ZERO, "it slept in vain");
}

#[tokio::test(start_paused = true)]
async fn the_earliest_deadline_of_several_counts() {
    let moody = Moody::answering([AWAY]);
    let retried = Retry::new().layer(moody.clone());
    let requests = vec![
        request("retry/several/a", Deadline::Never),
        request("retry/several/b", Deadline::Now),
    ];
    assert!(retried.acquire_all(requests).await.is_err());
    assert_eq!(moody.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_retry_is_logged_with_its_number_its_pause_and_the_error() {
    log::listen();
    let moody = Moody::answering([AWAY, AWAY]);
    let locks = Locks::new(moody).layer(Retry::new());
    drop(locks.mutex("retry/log").lock().await.unwrap());
    let lines = log::about("retry/log");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, number) in lines.iter().zip(["1", "2"]) {
        assert_eq!(line.level, Level::WARN);
        assert_eq!(line.field("retry"), number);
        assert_eq!(line.field("error"), "not in the mood");
        assert!(line.field("pause").ends_with('s'), "{line:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_only_looks_is_retried_and_what_breaks_is_not() {
    let moody = Moody::answering(vec![AWAY; 3]);
    let retried = Retry::new().layer(moody.clone());
    let asked_by = |before: usize| moody.asked().len() - before;
    retried.holders(&mutex_id("a")).await.unwrap();
    assert_eq!(asked_by(0), 4);
    moody.script([AWAY]);
    retried.doctor().await.unwrap();
    assert_eq!(asked_by(4), 2);
    moody.script([AWAY]);
    retried.collect(ms(1)).await.unwrap();
    assert_eq!(asked_by(6), 2);
    moody.script([AWAY]);
    assert!(retried.break_lock(&mutex_id("a")).await.is_err());
    assert_eq!(asked_by(8), 1, "a second break would hit the next holder");
}

#[tokio::test(start_paused = true)]
async fn neither_an_upgrade_nor_a_release_is_retried() {
    let moody = Moody::default();
    let retried = Retry::new().layer(moody.clone());
    let mut asked = request("retry/hold", Deadline::Now);
    asked.mode = Mode::Upgradeable;
    let mut hold = retried.acquire(asked).await.unwrap().unwrap();
    moody.script([AWAY]);
    assert!(hold.upgrade(Deadline::Never).await.is_err());
    moody.fail_releases();
    assert!(hold.release().await.is_err());
    assert!(moody.is_empty());
}

#[tokio::test(start_paused = true)]
async fn settings_are_kept() {
    let moody = Moody::answering(vec![AWAY; 9]);
    let retry = Retry::new()
        .times(4)
        .first_delay(ms(10))
        .factor(10.0)
        .max_delay(ms(300));
    let retried = retry.layer(moody.clone());
    assert!(retried.doctor().await.is_err());
    let times: Vec<_> = moody.asked().iter().map(|asked| asked.at).collect();
    assert_eq!(times.len(), 5);
    for (pair, least) in times.windows(2).zip([10, 100, 300, 300]) {
        let pause = pair[1] - pair[0];
        assert!(
            (ms(least)..=ms(2 * least + 1)).contains(&pause),
            "{pause:?} after {least}"
        );
    }
}
