//! The harness, measured with sides whose numbers are known.

use super::*;
use crate::cell::{Fold, Unit};
use std::sync::Mutex;

const TIME: Figure = Figure {
    name: "time",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};
const MOST: Figure = Figure {
    name: "most",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// What three rounds of them come to.
const RATIO: Ratio = Ratio {
    median: 4.0,
    min: 2.0,
    max: 6.0,
};

/// Only one test may measure: it is shared.
static LOG: Mutex<Vec<(&str, u64)>> = Mutex::new(Vec::new());

/// Values 10, 20, 30 … and 1, 2, 3 …, one for each turn that counts.
fn rising() -> Outcome<Turns> {
    let mut turn = 0.0;
    Ok(Box::new(move |operations| {
        LOG.lock().unwrap().push(("subject", operations));
        if operations == 100 {
            turn += 1.0;
        }
        Ok(vec![turn * 10.0, turn])
    }))
}

fn steady() -> Outcome<Turns> {
    Ok(Box::new(|operations| {
        LOG.lock().unwrap().push(("floor", operations));
        Ok(vec![5.0])
    }))
}

fn cell(bar: Bar) -> &'static Cell {
    Box::leak(Box::new(Cell {
        name: "test/cell",
        about: "Known numbers.",
        figures: &[TIME, MOST],
        operations: 100,
        most_rounds: None,
        subject: Side {
            label: "rising",
            start: rising,
        },
        floor: Some(Side {
            label: "steady",
            start: steady,
        }),
        bar: Some(bar),
    }))
}

#[test]
fn sides_take_turns_and_change_places_every_other_round() {
    let measured = measure(cell(Bar::Ratio(4.0)), 3).unwrap();
    let log = std::mem::take(&mut *LOG.lock().unwrap());
    let turns: Vec<&str> = log.iter().filter(|t| t.1 == 100).map(|t| t.0).collect();
    let order = ["subject", "floor", "floor", "subject", "subject", "floor"];
    assert_eq!(turns, order);
    let warmed_up = |pair: &[(&str, u64)]| (pair[0].1, pair[1].1) == (10, 100);
    assert!(log.chunks(2).all(warmed_up));
    assert_eq!(measured.subject, [20.0, 3.0]);
    assert_eq!(measured.floor, Some(vec![5.0]));
    assert_eq!(measured.ratio, Some(RATIO));
}

#[test]
fn a_bar_is_met_up_to_its_limit() {
    let met = |bar| {
        let measured = Measured {
            cell: cell(bar),
            rounds: 3,
            subject: vec![20.0, 3.0],
            floor: Some(vec![5.0]),
            ratio: Some(RATIO),
        };
        measured.met()
    };
    assert_eq!(met(Bar::Ratio(4.0)), Some(true));
    assert_eq!(met(Bar::Ratio(3.9)), Some(false));
    assert_eq!(met(Bar::Figure("most", 3.0)), Some(true));
    assert_eq!(met(Bar::Figure("most", 2.0)), Some(false));
    assert_eq!(met(Bar::Figure("time", 20.0)), Some(true));
    assert_eq!(
        met(Bar::Figures(&[("time", 20.0), ("most", 3.0)])),
        Some(true)
    );
    assert_eq!(
        met(Bar::Figures(&[("time", 20.0), ("most", 2.0)])),
        Some(false)
    );
    assert_eq!(met(Bar::Figures(&[("time", 20.0), ("least", 2.0)])), None);
}
