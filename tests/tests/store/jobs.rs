//! Handing out long work.

use crate::support::*;
use lockwork::runtime::store::{ErrandKind, TakenJob};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        long_work_is_handed_out_once_until_its_hold_is_over,
        no_more_long_work_is_handed_out_than_somebody_wants,
        whoever_renews_is_told_what_is_not_wanted_any_more,
        long_work_that_is_given_back_is_handed_out_at_once,
        the_result_resumes_whoever_waits_for_it_once,
        the_result_of_whoever_lost_it_does_not_count,
        long_work_goes_with_its_bookmark,
    ]
}

/// An instance that waits for long work at so many bookmarks.
async fn working(cx: &Cx, count: usize) {
    cx.made("a").await;
    cx.change("a", |commit| {
        for at in 1..=count {
            let id = format!("a:{at}");
            commit.wait(mark(&id, &id));
            commit.jobs.push(job(&id));
        }
    })
    .await;
}

async fn one(cx: &Cx, now: i64, until: i64) -> TakenJob {
    let mut taken = cx.take_jobs(later(now), later(until), 1).await.unwrap();
    taken.pop().expect("there is one")
}

async fn long_work_is_handed_out_once_until_its_hold_is_over(cx: Cx) {
    working(&cx, 1).await;
    let other = cx.other().await;
    let first = one(&cx, 0, 10).await;
    assert_eq!(
        (&first.instance, &first.bookmark),
        (&instance("a"), &bookmark("a:1"))
    );
    assert_eq!((&first.job, first.attempt), (&job("a:1").job, 1));
    assert!(
        other
            .take_jobs(later(9), later(99), 9)
            .await
            .unwrap()
            .is_empty()
    );
    let second = one(&other, 10, 99).await;
    assert_eq!((second.attempt, &second.job), (2, &first.job));
    assert_ne!(first.hold, second.hold);
}

async fn no_more_long_work_is_handed_out_than_somebody_wants(cx: Cx) {
    working(&cx, 5).await;
    for (limit, wanted) in [(0, 0), (2, 2), (usize::MAX, 3), (9, 0)] {
        assert_eq!(
            cx.take_jobs(NOW, later(9), limit).await.unwrap().len(),
            wanted
        );
    }
}

async fn whoever_renews_is_told_what_is_not_wanted_any_more(cx: Cx) {
    working(&cx, 3).await;
    let jobs = cx.take_jobs(NOW, later(10), 9).await.unwrap();
    cx.change("a", |commit| commit.leave("a:2")).await;
    let told = cx.renew_jobs(&jobs, later(50)).await.unwrap();
    let gone = jobs
        .iter()
        .find(|job| job.bookmark == bookmark("a:2"))
        .unwrap();
    assert_eq!(told, std::slice::from_ref(&gone.hold));
    assert!(
        cx.take_jobs(later(49), later(99), 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        cx.take_jobs(later(50), later(99), 9).await.unwrap().len(),
        2
    );
    assert_eq!(
        cx.renew_jobs(&jobs, later(50)).await.unwrap().len(),
        3,
        "others have them"
    );
}

async fn long_work_that_is_given_back_is_handed_out_at_once(cx: Cx) {
    working(&cx, 1).await;
    let first = one(&cx, 0, 100).await;
    cx.release_jobs(std::slice::from_ref(&first), later(1))
        .await
        .unwrap();
    let second = one(&cx, 1, 100).await;
    assert_eq!(second.attempt, 1, "nothing was tried");
    // Whoever has it not any more takes it from nobody.
    cx.release_jobs(&[first], later(2)).await.unwrap();
    let none = cx.take_jobs(later(2), later(99), 9).await.unwrap();
    assert!(none.is_empty());
    assert_eq!(cx.renew_jobs(&[second], later(50)).await.unwrap().len(), 0);
}

async fn the_result_resumes_whoever_waits_for_it_once(cx: Cx) {
    working(&cx, 1).await;
    let taken = one(&cx, 0, 10).await;
    let result = values(json!({ "result": [1, 2] }));
    assert!(
        cx.finish_job(&taken, result.clone(), later(3))
            .await
            .unwrap()
    );
    assert!(
        !cx.finish_job(&taken, result.clone(), later(4))
            .await
            .unwrap()
    );
    let to_do = cx.to_do().await;
    assert_eq!((to_do.len(), to_do[0].errand.due), (1, later(3)));
    let wanted = ErrandKind::Deliver {
        instance: instance("a"),
        bookmark: bookmark("a:1"),
        input: result,
        stimulus: None,
    };
    assert_eq!(to_do[0].errand.kind, wanted);
    assert!(
        cx.take_jobs(later(99), later(99), 9)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn the_result_of_whoever_lost_it_does_not_count(cx: Cx) {
    working(&cx, 1).await;
    let (lost, last) = (one(&cx, 0, 10).await, one(&cx, 10, 20).await);
    let result = values(json!({ "result": 1 }));
    assert!(
        !cx.finish_job(&lost, result.clone(), later(11))
            .await
            .unwrap()
    );
    assert!(cx.to_do().await.is_empty());
    assert!(cx.finish_job(&last, result, later(11)).await.unwrap());
}

async fn long_work_goes_with_its_bookmark(cx: Cx) {
    working(&cx, 2).await;
    let taken = one(&cx, 0, 10).await;
    cx.change("a", |commit| commit.end()).await;
    let result = values(json!({ "result": 1 }));
    assert!(!cx.finish_job(&taken, result, NOW).await.unwrap());
    assert!(
        cx.take_jobs(later(99), later(99), 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(cx.next_due().await.unwrap(), None);
}
