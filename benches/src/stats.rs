//! The few statistics a benchmark needs, each robust against the odd slow round.

/// The middle value; between two, their mean.
pub(crate) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let (lower, upper) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    f64::midpoint(lower, upper)
}

/// The least value that at least `percent` of all do not exceed. No interpolation: it happened.
pub(crate) fn percentile(values: &[f64], percent: u32) -> f64 {
    let sorted = sorted(values);
    let rank = (sorted.len() * percent as usize).div_ceil(100);
    sorted[rank.max(1) - 1]
}

/// The greatest value.
pub(crate) fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The least value.
pub(crate) fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    assert!(!values.is_empty(), "nothing was measured");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 100.0, 2.0]), 3.0);
    }

    #[test]
    fn one_slow_round_does_not_move_the_median() {
        assert_eq!(median(&[1.0, 1.0, 1e9]), 1.0);
    }

    #[test]
    fn a_percentile_is_a_value_that_happened() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&hundred, 50), 50.0);
        assert_eq!(percentile(&hundred, 99), 99.0);
        assert_eq!(percentile(&hundred, 100), 100.0);
        assert_eq!(percentile(&[3.0, 8.0], 99), 8.0);
        assert_eq!(percentile(&[3.0], 1), 3.0);
    }

    #[test]
    fn the_extremes_are_the_extremes() {
        assert_eq!((min(&[2.0, 1.0, 3.0]), max(&[2.0, 1.0, 3.0])), (1.0, 3.0));
    }
}
