//! What was written stays, whoever goes.

use crate::support::*;
use lockwork::workflow::{DefinitionHandle, SubStatus};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_one_writes_another_reads,
        what_was_written_is_there_when_somebody_comes_back,
        a_question_that_is_dropped_changes_nothing_or_everything,
    ]
}

async fn what_one_writes_another_reads(cx: Cx) {
    let other = cx.other().await;
    cx.waits("a", "Go").await;
    assert_eq!(other.state("a").await, cx.state("a").await);
    let old = cx.claimed("a").await;
    other.claimed("a").await;
    assert!(cx.commit(nothing(&old)).await.is_err());
    other.send(sending_as("s", event("Go"))).await.unwrap();
    assert_eq!(cx.to_do_ids().await, ["s/a:1"]);
}

async fn what_was_written_is_there_when_somebody_comes_back(cx: Cx) {
    crate::firing::scheduled(&cx, "w", 90).await;
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "Go"));
        commit.wait(alarm("a:2", later(60)));
        commit.journal = vec![entry(0, "said")];
        commit.errands = vec![errand("run", "a", NOW)];
        commit.jobs = vec![job("a:1")];
        commit.tasks = vec![task("a:1", "a")];
    })
    .await;
    cx.send(sending_as("s", event("Later").key("k")))
        .await
        .unwrap();
    let held = cx.held(errand("held", "b", NOW), later(30)).await;
    let wanted = cx.state("a").await;
    let cx = cx.reopened().await;
    assert_eq!(cx.state("a").await, wanted);
    assert_eq!(wanted.sub_status, SubStatus::Suspended);
    assert_eq!(
        cx.journal(&instance("a"), 0).await.unwrap(),
        [entry(0, "said")]
    );
    assert_eq!(cx.tasks().await.unwrap().len(), 1);
    assert_eq!(cx.take_jobs(NOW, later(9), 9).await.unwrap().len(), 1);
    assert_eq!(cx.waiting_ids().await, ["s"]);
    assert!(cx.tell(event("Later").key("k")).await.duplicate);
    let published = DefinitionHandle::published(named("w"));
    assert_eq!(cx.resolve(&published).await.unwrap().unwrap().number, 1);
    assert_eq!(cx.fire(later(90), 9).await.unwrap(), 2);
    assert!(
        cx.done(&held).await.unwrap(),
        "a hold outlives whoever gave it"
    );
    assert_eq!(cx.claimed("a").await.claim.epoch, 2);
}

async fn a_question_that_is_dropped_changes_nothing_or_everything(cx: Cx) {
    cx.made("a").await;
    for round in 0..100_u64 {
        let claimed = cx.claimed("a").await;
        let mut commit = nothing(&claimed);
        let id = format!("a:{round}");
        commit.wait(mark(&id, &id));
        commit.journal = vec![entry(round, &id)];
        commit.errands = vec![errand(&id, "b", NOW)];
        let patience = std::time::Duration::from_micros(round * 50);
        let _ = tokio::time::timeout(patience, cx.commit(commit)).await;
        // Whatever became of it is decided once the instance is claimed again.
        let after = cx.claimed("a").await;
        let counted = after.claim.version > claimed.claim.version;
        let there = after
            .state
            .bookmarks
            .iter()
            .any(|one| one.id.as_str() == id);
        assert_eq!(counted, there);
        let journal = cx.journal(&instance("a"), round).await.unwrap();
        assert_eq!(journal.len(), usize::from(counted), "round {round}");
        let to_do = cx.take(NOW, later(9), 9).await.unwrap();
        assert_eq!(to_do.len(), usize::from(counted), "round {round}");
        for held in to_do {
            assert!(cx.done(&held).await.unwrap());
        }
        cx.commit(nothing(&after)).await.unwrap();
    }
}
