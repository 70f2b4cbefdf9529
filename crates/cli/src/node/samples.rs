//! Workflows to try.

use lockwork::{flow::Definition, workflow::Result};

const SAMPLES: [&str; 3] = [
    include_str!("../../samples/greeting.json"),
    include_str!("../../samples/order-approval.json"),
    include_str!("../../samples/countdown.json"),
];

/// All of them.
pub(crate) fn all() -> Result<Vec<Definition>> {
    SAMPLES
        .iter()
        .map(|json| Definition::from_json(json))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_a_definition() {
        let ids: Vec<_> = all()
            .unwrap()
            .into_iter()
            .map(|one| one.id.to_string())
            .collect();
        assert_eq!(ids, ["greeting", "order-approval", "countdown"]);
    }
}
