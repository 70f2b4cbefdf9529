//! The table again, for programs.

use crate::{
    cell::{Bar, Cell, Figure, Unit},
    harness::{Measured, Ratio},
    probe::Host,
};
use serde_json::{Map, Value, json};

/// One line for each cell, each whole in itself.
pub(crate) fn json(all: &[Measured], host: &Host) -> String {
    let line = |measured: &Measured| format!("{}\n", object(measured, host));
    all.iter().map(line).collect()
}

fn object(measured: &Measured, host: &Host) -> Value {
    let cell = measured.cell;
    let floor = cell.floor.as_ref().zip(measured.floor.as_ref());
    let ratio = |r: Ratio| json!({ "median": r.median, "min": r.min, "max": r.max });
    json!({
        "cell": cell.name,
        "subject": side(cell, cell.subject.label, &measured.subject),
        "floor": floor.map(|(named, found)| side(cell, named.label, found)),
        "ratio": measured.ratio.map(ratio),
        "bar": cell.bar.as_ref().map(bar),
        "met": measured.met(),
        "rounds": measured.rounds,
        "operations": cell.operations,
        "host": {
            "cores": host.cores,
            "kernel": host.kernel,
            "rustc": host.rustc,
            "profile": host.profile,
            "wake_p99_ns": host.wake_p99,
            "servers": host.servers,
        },
    })
}

fn bar(bar: &Bar) -> Value {
    let at_most = |name: &str, limit: f64| json!({ "of": name, "at_most": limit });
    match bar {
        Bar::Ratio(limit) => at_most("ratio", *limit),
        Bar::Figure(name, limit) => at_most(name, *limit),
        Bar::Figures(limits) => limits.iter().map(|(n, limit)| at_most(n, *limit)).collect(),
    }
}

/// Figures are called by their name and their unit.
fn side(cell: &Cell, label: &str, found: &[f64]) -> Value {
    let key = |figure: &Figure| match figure.unit {
        Unit::Nanoseconds => format!("{} ns", figure.name),
        Unit::Count => figure.name.to_owned(),
    };
    let figures = cell.figures.iter().zip(found);
    let figures: Map<String, Value> = figures.map(|(f, v)| (key(f), json!(v))).collect();
    json!({ "label": label, "figures": figures })
}
