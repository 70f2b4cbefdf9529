//! How a cell is measured.
//!
//! Subject and floor take turns, round by round, and every other round the floor goes first: what
//! slows the machine down for a while slows down both. Each turn is a fixed count of operations
//! after a warm-up of a tenth of it. A side's result is the median over all rounds. The ratio
//! is the median of the rounds' own, because the two turns of a round share the machine's mood
//! of the moment; the least and the greatest ratio of any one round say how much to
//! trust it.

use crate::{
    cell::{Bar, Cell, Figure, Outcome, Side, Turns},
    stats,
};

/// A cell and its numbers.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) cell: &'static Cell,
    pub(crate) rounds: usize,
    /// By figure.
    pub(crate) subject: Vec<f64>,
    pub(crate) floor: Option<Vec<f64>>,
    pub(crate) ratio: Option<Ratio>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Measured {
    /// Whether the bar was met; `None` where there is none.
    pub(crate) fn met(&self) -> Option<bool> {
        match self.cell.bar.as_ref()? {
            Bar::Ratio(limit) => Some(self.ratio?.median <= *limit),
            Bar::Figure(name, limit) => self.at_most(name, *limit),
            Bar::Figures(limits) => limits
                .iter()
                .map(|(name, limit)| self.at_most(name, *limit))
                .try_fold(true, |all, met| Some(all & met?)),
        }
    }

    fn at_most(&self, name: &str, limit: f64) -> Option<bool> {
        self.figures()
            .find(|(figure, _)| figure.name == name)
            .map(|(_, value)| value <= limit)
    }

    /// The subject's figures and their values.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&'static Figure, f64)> {
        self.cell.figures.iter().zip(self.subject.iter().copied())
    }
}

/// Measures `cell`.
pub(crate) fn measure(cell: &'static Cell, rounds: usize) -> Outcome<Measured> {
    let mut subject = Series::start(&cell.subject)?;
    let mut floor = cell.floor.as_ref().map(Series::start).transpose()?;
    let rounds = cell.most_rounds.map_or(rounds, |most| rounds.min(most));
    for round in 0..rounds {
        let mut sides: Vec<&mut Series> = std::iter::once(&mut subject).chain(&mut floor).collect();
        if round % 2 == 1 {
            sides.reverse();
        }
        for side in sides {
            side.take_turn(cell.operations)?;
        }
    }
    Ok(Measured {
        cell,
        rounds,
        ratio: floor
            .as_ref()
            .map(|floor| ratio(&subject.headline(), &floor.headline())),
        subject: subject.folded(cell.figures),
        floor: floor.map(|floor| floor.folded(cell.figures)),
    })
}

/// One side's turns.
struct Series {
    turns: Turns,
    /// By round, then by figure.
    values: Vec<Vec<f64>>,
}

impl Series {
    fn start(side: &Side) -> Outcome<Self> {
        Ok(Self {
            turns: (side.start)()?,
            values: Vec::new(),
        })
    }

    fn take_turn(&mut self, operations: u64) -> Outcome<()> {
        (self.turns)((operations / 10).max(1))?;
        self.values.push((self.turns)(operations)?);
        Ok(())
    }

    fn headline(&self) -> Vec<f64> {
        self.values.iter().map(|figures| figures[0]).collect()
    }

    fn folded(&self, figures: &[Figure]) -> Vec<f64> {
        let by_round = |at| {
            self.values
                .iter()
                .map(move |values| values.get(at).copied())
        };
        figures
            .iter()
            .enumerate()
            .map_while(|(at, figure)| {
                let values: Option<Vec<f64>> = by_round(at).collect();
                values.map(|values| figure.over_rounds.of(&values))
            })
            .collect()
    }
}

fn ratio(subject: &[f64], floor: &[f64]) -> Ratio {
    let by_round: Vec<f64> = subject.iter().zip(floor).map(|(s, f)| s / f).collect();
    Ratio {
        median: stats::median(&by_round),
        min: stats::min(&by_round),
        max: stats::max(&by_round),
    }
}

#[cfg(test)]
mod tests;
