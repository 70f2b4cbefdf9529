//! What nodes know of each other, and who looks where.

use crate::support::*;
use lockwork::runtime::store::{Errand, ErrandKind, NodeRow, Parts};
use lockwork::workflow::{InstanceId, Run};

pub(crate) fn list() -> Vec<Case> {
    cases![
        a_node_is_what_it_said_last,
        nodes_that_were_dead_for_long_are_forgotten,
        the_first_node_says_how_many_parts_there_are,
        each_errand_is_in_one_part_whoever_is_asked,
        errands_of_other_parts_are_not_handed_out,
        those_whose_end_is_wanted_are_named_until_they_are_over,
    ]
}

fn node(name: &str, beat: i64, until: i64) -> NodeRow {
    NodeRow {
        name: name.to_owned(),
        since: NOW,
        beat: later(beat),
        until: later(until),
        bursts: u32::try_from(beat).unwrap(),
        running: (0..beat)
            .map(|one| instance(&format!("{name}-{one}")))
            .collect(),
    }
}

async fn a_node_is_what_it_said_last(cx: Cx) {
    let other = cx.other().await;
    cx.beat(node("b", 1, 7)).await.unwrap();
    other.beat(node("a", 2, 8)).await.unwrap();
    cx.beat(node("b", 3, 9)).await.unwrap();
    let wanted = [node("a", 2, 8), node("b", 3, 9)];
    assert_eq!(cx.nodes().await.unwrap(), wanted);
    assert_eq!(other.nodes().await.unwrap(), wanted);
}

async fn nodes_that_were_dead_for_long_are_forgotten(cx: Cx) {
    for (name, until) in [("a", 5), ("b", 6), ("c", 7)] {
        cx.beat(node(name, 1, until)).await.unwrap();
    }
    assert_eq!(cx.forget_nodes(later(6)).await.unwrap(), 1);
    assert_eq!(cx.forget_nodes(later(6)).await.unwrap(), 0);
    let left = cx.nodes().await.unwrap();
    let left: Vec<_> = left.iter().map(|node| &*node.name).collect();
    assert_eq!(left, ["b", "c"]);
}

async fn the_first_node_says_how_many_parts_there_are(cx: Cx) {
    let other = cx.other().await;
    assert_eq!(cx.parts(4).await.unwrap(), 4);
    assert_eq!(other.parts(7).await.unwrap(), 4);
    assert_eq!(cx.parts(1).await.unwrap(), 4);
}

/// So many errands.
async fn errands(cx: &Cx, count: usize) {
    let errand = |number| Errand {
        id: format!("errand {number}"),
        kind: ErrandKind::Run {
            instance: instance(&format!("i{number}")),
            run: Run::default(),
        },
        due: NOW,
    };
    cx.add((0..count).map(errand).collect()).await.unwrap();
}

async fn each_errand_is_in_one_part_whoever_is_asked(cx: Cx) {
    errands(&cx, 40).await;
    let other = cx.other().await;
    let mut all = Vec::new();
    for (part, store) in [(2, &cx), (0, &other), (1, &cx)] {
        let parts = Parts::new(3, [part]);
        let taken = store.take_from(parts.clone(), NOW, later(9), 99).await;
        let taken = taken.unwrap();
        assert!(taken.len() > 5, "part {part} has {}", taken.len());
        let again = cx.take_from(parts, NOW, later(9), 99).await.unwrap();
        assert!(again.is_empty());
        all.extend(taken.into_iter().map(|held| held.errand.id));
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 40);
}

async fn errands_of_other_parts_are_not_handed_out(cx: Cx) {
    errands(&cx, 20).await;
    let none = Parts::new(4, []);
    assert!(
        cx.take_from(none, NOW, later(5), 99)
            .await
            .unwrap()
            .is_empty()
    );
    let two = Parts::new(4, [1, 3]);
    let taken = cx.take_from(two.clone(), NOW, later(5), 3).await.unwrap();
    assert_eq!(taken.len(), 3);
    // They stay in their parts when they come free.
    let rest = Parts::new(4, [0, 2]);
    let others = cx.take_from(rest, later(5), later(9), 99).await.unwrap();
    assert!(
        others
            .iter()
            .all(|held| taken.iter().all(|one| one.errand != held.errand))
    );
    let back = cx.take_from(two, later(5), later(9), 99).await.unwrap();
    assert_eq!(back.len() + others.len(), 20);
    assert!(
        taken
            .iter()
            .all(|one| back.iter().any(|held| held.errand == one.errand))
    );
}

async fn those_whose_end_is_wanted_are_named_until_they_are_over(cx: Cx) {
    for id in ["a", "b", "c"] {
        cx.made(id).await;
    }
    let all: Vec<InstanceId> = ["a", "b", "c", "d"].map(instance).to_vec();
    assert!(cx.to_be_ended(&all).await.unwrap().is_empty());
    cx.request_cancel(&instance("b")).await.unwrap();
    assert_eq!(cx.to_be_ended(&all).await.unwrap(), [instance("b")]);
    assert!(cx.to_be_ended(&all[..1]).await.unwrap().is_empty());
    cx.change("b", |commit| commit.end()).await;
    assert!(cx.to_be_ended(&all).await.unwrap().is_empty());
}
