//! The orders of a demo: publishing what they are, starting them, and how far they are.

use super::fleet::Fleet;
use crate::{
    client::{self, Node, list},
    exit::{self, End, Ended},
};
use serde_json::{Value, json};

const ORDER: &str = include_str!("../../samples/demo-order.json");
const PARCEL: &str = include_str!("../../samples/demo-parcel.json");

/// More than there can be.
const ALL: &str = "500";

/// What tells this demo from others on the same store.
pub(super) fn run_id() -> String {
    format!("{:x}-{:x}", client::now(), std::process::id())
}

/// An order, and the parcel that each waits for.
pub(super) fn definitions() -> [Value; 2] {
    // The samples are known; a test reads them.
    [ORDER, PARCEL].map(|text| serde_json::from_str(text).unwrap_or_default())
}

pub(super) async fn publish(node: &Node) -> Ended<()> {
    // The parcel first: an order needs it.
    for definition in definitions().into_iter().rev() {
        client::add(node, definition, true).await?;
    }
    Ok(())
}

/// Starts one through the next node that answers. By its key it is one order, however often it is asked for.
pub(super) async fn start(fleet: &Fleet, run: &str, number: u32) -> Ended<()> {
    let order = format!("{}", 1000 + number);
    let wanted = json!({
        "input": { "order": order, "run": run },
        "correlation": run,
        "key": format!("demo-{run}-{order}"),
    });
    let mut last = End::new(exit::UNAVAILABLE, "no node is left");
    let first = usize::try_from(number).unwrap_or_default();
    for node in fleet.living(first)? {
        match client::begin(&node, "demo-order", wanted.clone()).await {
            Ok(_) => return Ok(()),
            Err(end) => last = end,
        }
    }
    Err(last)
}

/// All instances of `definition` that belong to this demo, as a node lists them.
pub(super) async fn all(node: &Node, definition: &str, run: &str) -> Ended<Vec<Value>> {
    let query = [
        ("definition", definition),
        ("correlation", run),
        ("limit", ALL),
    ];
    let found = node.get(&["instances"], &query).await?;
    Ok(list(&found, "instances").to_vec())
}

/// How many orders are how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) started: usize,
    pub(super) runs: usize,
    pub(super) waits: usize,
    pub(super) finished: usize,
    pub(super) failed: usize,
}

impl Count {
    pub(super) fn of(orders: &[Value]) -> Self {
        let mut count = Self {
            started: orders.len(),
            ..Self::default()
        };
        for order in orders {
            *match order["subStatus"].as_str() {
                Some("suspended") => &mut count.waits,
                Some("finished") => &mut count.finished,
                Some("faulted" | "cancelled") => &mut count.failed,
                _ => &mut count.runs,
            } += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork::flow::Definition;

    #[test]
    fn what_a_demo_runs_are_definitions() {
        for text in [ORDER, PARCEL] {
            Definition::from_json(text).unwrap();
        }
        let ids = definitions().map(|one| one["id"].as_str().unwrap().to_owned());
        assert_eq!(ids, ["demo-order", "demo-parcel"]);
    }

    #[test]
    fn every_order_is_counted_once() {
        let orders = ["pending", "executing", "suspended", "finished", "faulted"];
        let orders = orders.map(|status| json!({ "subStatus": status }));
        let count = Count::of(&orders);
        assert_eq!((count.started, count.runs, count.waits), (5, 2, 1));
        assert_eq!((count.finished, count.failed), (1, 1));
    }
}
