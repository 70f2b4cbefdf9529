//! How long something took, many times: what most took, what the slowest took, and a picture of all.

use std::time::Duration;

/// With fewer, one of a hundred is nobody.
const FOR_P99: usize = 100;

/// How long something took, each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples(Vec<Duration>);

/// As many as took at most so long, and longer than the one before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) up_to: Duration,
    pub(super) count: usize,
}

impl Samples {
    pub(super) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Half of them took no longer.
    pub(super) fn p50(&self) -> Option<Duration> {
        self.at(50)
    }

    /// All but one of a hundred took no longer; `None` of fewer.
    pub(super) fn p99(&self) -> Option<Duration> {
        self.at(99).filter(|_| self.0.len() >= FOR_P99)
    }

    pub(super) fn max(&self) -> Option<Duration> {
        self.0.iter().max().copied()
    }

    /// The one that so many of a hundred are not slower than.
    fn at(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    /// All of them, in steps of 1, 2, 5, 10 and so on, without the empty ones at both ends.
    pub(super) fn buckets(&self) -> Vec<Bucket> {
        let mut buckets: Vec<_> = steps().map(|up_to| Bucket { up_to, count: 0 }).collect();
        for took in &self.0 {
            let at = buckets.partition_point(|bucket| bucket.up_to < *took);
            let last = buckets.len() - 1;
            buckets[at.min(last)].count += 1;
        }
        let is_used = |bucket: &Bucket| bucket.count > 0;
        let (first, last) = (
            buckets.iter().position(is_used),
            buckets.iter().rposition(is_used),
        );
        match (first, last) {
            (Some(first), Some(last)) => buckets.drain(first..=last).collect(),
            _ => Vec::new(),
        }
    }
}

/// From 100 ns to 100 s.
fn steps() -> impl Iterator<Item = Duration> {
    let decades = (2..11).map(|power| 10_u64.pow(power));
    let steps = decades.flat_map(|decade| [1, 2, 5].map(|step| step * decade));
    steps.chain([100_000_000_000]).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(micros: impl IntoIterator<Item = u64>) -> Samples {
        Samples(micros.into_iter().map(Duration::from_micros).collect())
    }

    #[test]
    fn half_of_them_and_all_but_one_of_a_hundred() {
        let all = samples((1..=200).rev());
        assert_eq!(all.p50(), Some(Duration::from_micros(100)));
        assert_eq!(all.p99(), Some(Duration::from_micros(198)));
        assert_eq!(all.max(), Some(Duration::from_micros(200)));
    }

    #[test]
    fn of_few_nobody_knows_what_one_of_a_hundred_takes() {
        let few = samples(1..=99);
        assert_eq!(few.p99(), None);
        assert_eq!(few.p50(), Some(Duration::from_micros(50)));
        assert_eq!((samples([]).p50(), samples([]).max()), (None, None));
        assert_eq!(samples([7]).p50(), Some(Duration::from_micros(7)));
    }

    #[test]
    fn a_picture_has_each_of_them_once_and_no_empty_ends() {
        let picture = samples([3, 4, 5, 6, 60]).buckets();
        let seen: Vec<_> = picture
            .iter()
            .map(|bucket| (bucket.up_to.as_micros(), bucket.count))
            .collect();
        assert_eq!(seen, [(5, 3), (10, 1), (20, 0), (50, 0), (100, 1)]);
        assert_eq!(samples([]).buckets(), []);
        let far = Samples(vec![Duration::ZERO, Duration::from_secs(1000)]);
        let all: usize = far.buckets().iter().map(|bucket| bucket.count).sum();
        assert_eq!(all, 2);
    }
}
