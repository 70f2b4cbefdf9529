//! In which order things are asked for in one call of the script: what it does fastest comes first.

use crate::things::{Said, Thing, What};
use lockwork_core::lock::{Mode, backend::ByName};
use std::{collections::HashSet, time::Duration};

/// The longest lease for which the script need not think about how long tokens last.
const A_DAY: Duration = Duration::from_secs(86_400);

/// The order of one call, as `call.lua` describes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Which thing is asked for at each place.
    pub(crate) order: Vec<usize>,
    /// Where what is given back ends, what is taken by who would wait, and what by who would not.
    pub(crate) ends: [usize; 3],
    /// The lease of all that is taken so.
    pub(crate) lease: Duration,
    /// All or none.
    pub(crate) all: bool,
}

/// What a thing is to the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Given,
    Waited,
    Taken,
    Other,
}

const SORTS: [Sort; 4] = [Sort::Given, Sort::Waited, Sort::Taken, Sort::Other];

impl Plan {
    /// All or none of so many things.
    pub(crate) fn all(things: usize) -> Self {
        Self {
            all: true,
            ..Self::as_it_is(things)
        }
    }

    /// So many things for a script that does none of them first.
    pub(crate) fn as_it_is(things: usize) -> Self {
        Self {
            order: (0..things).collect(),
            ends: [0; 3],
            lease: Duration::ZERO,
            all: false,
        }
    }

    /// Each of these on its own. What comes first is the first thing about its lock, so that all about
    /// a lock is done in the order in which it was asked for.
    pub(crate) fn each(things: &[Thing]) -> Self {
        let mut lease = None;
        let mut met = HashSet::with_capacity_and_hasher(things.len(), ByName);
        let sorts = things
            .iter()
            .map(|thing| match met.insert(&thing.lease.id) {
                true => sort(thing, &mut lease),
                false => Sort::Other,
            });
        let sorts: Vec<Sort> = sorts.collect();
        let (mut order, mut ends) = (Vec::with_capacity(things.len()), [0; 3]);
        for (number, of) in SORTS.into_iter().enumerate() {
            let places = sorts.iter().enumerate().filter(|(_, sort)| **sort == of);
            order.extend(places.map(|(place, _)| place));
            if let Some(end) = ends.get_mut(number) {
                *end = order.len();
            }
        }
        Self {
            order,
            ends,
            lease: lease.unwrap_or_default(),
            all: false,
        }
    }

    /// What was said in this order, in the order of the things.
    pub(crate) fn as_asked(&self, said: Vec<Said>) -> Vec<Said> {
        let is_so = || {
            self.order
                .iter()
                .enumerate()
                .all(|(at, place)| at == *place)
        };
        if is_so() {
            return said;
        }
        let mut placed: Vec<_> = self.order.iter().copied().zip(said).collect();
        placed.sort_unstable_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, said)| said).collect()
    }
}

/// Of those that are taken, the first decides for which lease.
fn sort(thing: &Thing, lease: &mut Option<Duration>) -> Sort {
    if thing.lease.mode != Mode::Exclusive {
        return Sort::Other;
    }
    let of_taken = match thing.what {
        What::Give if !thing.buried => return Sort::Given,
        What::Wait => Sort::Waited,
        What::Take => Sort::Taken,
        _ => return Sort::Other,
    };
    let time = thing.lease.time;
    match time <= A_DAY && *lease.get_or_insert(time) == time {
        true => of_taken,
        false => Sort::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::things::Lease;
    use lockwork_core::lock::{LockId, Name, OwnerId};
    use std::sync::Arc;

    fn thing(what: What, key: &str) -> Thing {
        leased(what, key, Mode::Exclusive, Duration::from_secs(30))
    }

    fn leased(what: What, key: &str, mode: Mode, time: Duration) -> Thing {
        let id = LockId::new(mode.space(), Name::new(key).expect("a name"));
        let lease = Lease::new(id, OwnerId::from_bytes([7; 16]), mode, time);
        Arc::new(lease).thing(what)
    }

    fn done(number: usize) -> Said {
        Said::Done(i64::try_from(number).expect("a small number"))
    }

    #[test]
    fn what_is_done_fastest_comes_first_and_answers_come_as_asked() {
        let plan = Plan::each(&[
            thing(What::Renew, "a"),
            thing(What::Take, "b"),
            thing(What::Wait, "c"),
            thing(What::Give, "d"),
            thing(What::Wait, "e"),
        ]);
        assert_eq!(plan.order, [3, 2, 4, 1, 0]);
        assert_eq!(plan.ends, [1, 3, 4]);
        let said = plan.as_asked(plan.order.iter().copied().map(done).collect());
        let is_asked =
            |(at, said): (usize, &Said)| matches!(said, Said::Done(n) if *n == at as i64);
        assert!(said.iter().enumerate().all(is_asked), "{said:?}");
    }

    #[test]
    fn a_second_thing_about_a_lock_comes_after_the_first() {
        let plan = Plan::each(&[
            thing(What::Take, "a"),
            thing(What::Leave, "b"),
            thing(What::Give, "a"),
            thing(What::Give, "b"),
            thing(What::Take, "a"),
        ]);
        assert_eq!(plan.order, [0, 1, 2, 3, 4]);
        assert_eq!(plan.ends, [0, 0, 1]);
    }

    #[test]
    fn what_needs_more_thought_does_not_come_first() {
        let long = leased(What::Take, "a", Mode::Exclusive, A_DAY * 2);
        let mut buried = thing(What::Give, "b");
        buried.buried = true;
        let reader = leased(What::Take, "c", Mode::Read, Duration::from_secs(30));
        let shorter = leased(What::Take, "e", Mode::Exclusive, Duration::from_secs(1));
        let plan = Plan::each(&[long, buried, reader, thing(What::Take, "d"), shorter]);
        assert_eq!(plan.order, [3, 0, 1, 2, 4]);
        assert_eq!(
            (plan.ends, plan.lease),
            ([0, 0, 1], Duration::from_secs(30))
        );
    }
}
