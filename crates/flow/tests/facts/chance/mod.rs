//! Definitions, stimuli and interruptions by chance: whatever happens, an instance that was cut into pieces has the
//! journal of one that was not.
//!
//! A case is all that follows from a seed. One that fails tells its seed, and [`case`] runs it again.

mod checking;
mod driving;
mod making;
mod random;

use crate::support::Instance;
use driving::{Driving, Pieces};
use random::Random;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

const CASES: u64 = 10_000;

#[test]
fn an_instance_that_was_cut_into_pieces_has_the_journal_of_one_that_was_not() {
    const AT_ONCE: u64 = 2;
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            scope.spawn(move || (first..CASES).step_by(AT_ONCE as usize).for_each(told));
        }
    });
}

fn told(seed: u64) {
    if catch_unwind(AssertUnwindSafe(|| case(seed))).is_err() {
        panic!("the case with seed {seed} failed");
    }
}

fn case(seed: u64) {
    let definition = making::definition(&mut Random::new(seed));
    let whole = Driving::new(Instance::new(definition), seed, Pieces::One).run();
    let other = Instance::of(Arc::clone(&whole.graph));
    // Some between all steps, most here and there.
    let often = [1, 4, 8, 16][Random::new(!seed).below(4)];
    let pieces = Pieces::Many(Random::new(seed.wrapping_mul(31)), often);
    let cut = Driving::new(other, seed, pieces).run();
    assert_eq!(whole.journal, cut.journal);
    assert_eq!(whole.effects, cut.effects);
    assert_eq!(whole.state, cut.state);
}

#[test]
fn the_same_seed_is_the_same_case() {
    let definition = || making::definition(&mut Random::new(7));
    assert_eq!(definition(), definition());
    let run = || Driving::new(Instance::new(definition()), 7, Pieces::One).run();
    assert_eq!(run().journal, run().journal);
}

#[test]
fn chance_finds_its_way_to_each_activity_and_each_end() {
    let (mut kinds, mut ends) = (std::collections::BTreeSet::new(), Vec::new());
    for seed in 0..500 {
        let definition = making::definition(&mut Random::new(seed));
        let text = definition.to_string();
        let words = text.split("\"type\":\"").skip(1);
        kinds.extend(words.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        let instance = Driving::new(Instance::new(definition), seed, Pieces::One).run();
        if !ends.contains(&instance.state.sub_status) {
            ends.push(instance.state.sub_status);
        }
    }
    let all: Vec<_> = making::KINDS
        .iter()
        .filter(|kind| !kinds.contains(**kind))
        .collect();
    assert!(all.is_empty(), "never made: {all:?}");
    assert_eq!(
        ends.len(),
        4,
        "finished, faulted, cancelled, and still waiting: {ends:?}"
    );
}
