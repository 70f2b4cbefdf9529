//! What a cell consists of: a subject, the floor it is compared with, and what was promised.

use crate::stats;

/// A measurement, or a sentence that says why there is none.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Cell {
    /// `group/name`.
    pub(crate) name: &'static str,
    /// What is measured: a sentence.
    pub(crate) about: &'static str,
    /// What each turn yields. The first is the headline: ratios are of it.
    pub(crate) figures: &'static [Figure],
    /// How many operations a turn has.
    pub(crate) operations: u64,
    /// How many rounds are enough, where each takes seconds.
    pub(crate) most_rounds: Option<usize>,
    pub(crate) subject: Side,
    /// The least that could do the same; none where the number speaks for itself.
    pub(crate) floor: Option<Side>,
    /// What was promised.
    pub(crate) bar: Option<Bar>,
}

/// One of the two things that are compared.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) label: &'static str,
    /// Sets up whatever all turns share; not measured.
    pub(crate) start: fn() -> Outcome<Turns>,
}

/// Does so many operations and yields the figures of its cell, in order. A floor may leave out
/// figures that mean nothing for it, from the end.
pub(crate) type Turns = Box<dyn FnMut(u64) -> Outcome<Vec<f64>>>;

/// One number a turn yields.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) over_rounds: Fold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Count,
}

/// What becomes of a figure's values, one for each round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fold {
    Median,
    Max,
}

#[derive(Debug)]
pub(crate) enum Bar {
    /// The ratio is at most this.
    Ratio(f64),
    /// The subject's figure of this name is at most this, in its unit.
    Figure(&'static str, f64),
    /// Each of several.
    Figures(&'static [(&'static str, f64)]),
}

impl Cell {
    /// The part of the name before the slash.
    pub(crate) fn group(&self) -> &'static str {
        self.name.split('/').next().unwrap_or(self.name)
    }
}

impl Fold {
    /// One value for all of them.
    pub(crate) fn of(self, values: &[f64]) -> f64 {
        match self {
            Self::Median => stats::median(values),
            Self::Max => stats::max(values),
        }
    }
}
