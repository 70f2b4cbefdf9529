//! What the operator sees: a line for each cell while it runs, and a table of all at the end.

mod json;

pub(crate) use json::json;

use crate::{
    cell::{Bar, Cell, Figure, Unit},
    harness::{Measured, Ratio},
    paint,
};

/// Begins the line of `cell`.
pub(crate) fn begun(cell: &Cell) {
    eprint!("{:<28}", cell.name);
}

/// Ends the line of a cell.
pub(crate) fn ended(measured: &Measured) {
    let paint = paint::stderr();
    let mut line = vec![values(measured.cell, &measured.subject)];
    line.extend(
        measured
            .ratio
            .map(|found| format!("{} of its floor", ratio(found))),
    );
    line.extend(measured.met().map(|met| match met {
        true => paint.green("met"),
        false => paint.red("not met"),
    }));
    eprintln!("{}", line.join("; "));
}

/// The cells, for `--list`.
pub(crate) fn list(cells: &[&Cell]) -> String {
    let entry = |cell: &&Cell| {
        let floor = cell.floor.as_ref().map_or("none", |side| side.label);
        let bar = cell
            .bar
            .as_ref()
            .map_or("none".to_owned(), |b| bar(cell, b));
        format!(
            "{}\n    {}\n    subject: {}\n    floor: {floor}\n    bar: {bar}\n",
            cell.name, cell.about, cell.subject.label
        )
    };
    cells.iter().map(entry).collect()
}

/// The table, in Markdown.
pub(crate) fn table(all: &[Measured]) -> String {
    let head = "| cell | subject | floor | ratio (least–greatest of a round) | bar | met? |\n|---|---|---|---|---|---|\n";
    head.to_owned() + &all.iter().map(row).collect::<String>()
}

fn row(measured: &Measured) -> String {
    let cell = measured.cell;
    let floor = cell.floor.as_ref().zip(measured.floor.as_ref());
    let floor = floor.map(|(side, found)| format!("{}: {}", side.label, values(cell, found)));
    let met = match measured.met() {
        None => "",
        Some(true) => "yes",
        Some(false) => "**not met**",
    };
    format!(
        "| `{}` | {} | {} | {} | {} | {met} |\n",
        cell.name,
        values(cell, &measured.subject),
        floor.unwrap_or_default(),
        measured.ratio.map(ratio).unwrap_or_default(),
        cell.bar.as_ref().map(|b| bar(cell, b)).unwrap_or_default(),
    )
}

fn ratio(ratio: Ratio) -> String {
    format!("{:.2} ({:.2}–{:.2})", ratio.median, ratio.min, ratio.max)
}

fn bar(cell: &Cell, bar: &Bar) -> String {
    match bar {
        Bar::Ratio(limit) => format!("ratio ≤ {}", (limit * 1e3).round() / 1e3),
        Bar::Figure(name, limit) => at_most(cell, name, *limit),
        Bar::Figures(limits) => {
            let all = limits
                .iter()
                .map(|(name, limit)| at_most(cell, name, *limit));
            all.collect::<Vec<_>>().join(", ")
        }
    }
}

fn at_most(cell: &Cell, name: &str, limit: f64) -> String {
    let figure = cell.figures.iter().find(|figure| figure.name == name);
    let limit = figure.map_or_else(|| limit.to_string(), |f| amount(f.unit, limit));
    format!("{name} ≤ {limit}")
}

fn values(cell: &Cell, found: &[f64]) -> String {
    let one = |(figure, value): (&Figure, &f64)| {
        format!("{} {}", figure.name, amount(figure.unit, *value))
    };
    let all: Vec<String> = cell.figures.iter().zip(found).map(one).collect();
    all.join(", ")
}

/// Three significant digits and the unit in which they need the fewest zeros.
fn amount(unit: Unit, value: f64) -> String {
    match unit {
        // Some counts are of a second's share.
        Unit::Count => format!("{}", (value * 100.0).round() / 100.0),
        Unit::Nanoseconds if value < 1e3 => format!("{} ns", digits(value)),
        Unit::Nanoseconds if value < 1e6 => format!("{} µs", digits(value / 1e3)),
        Unit::Nanoseconds => format!("{} ms", digits(value / 1e6)),
    }
}

fn digits(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_three_digits_and_a_fitting_unit() {
        let shown = |nanos| amount(Unit::Nanoseconds, nanos);
        assert_eq!(shown(7.0), "7.00 ns");
        assert_eq!(shown(212.4), "212 ns");
        assert_eq!(shown(1_050.0), "1.05 µs");
        assert_eq!(shown(34_560.0), "34.6 µs");
        assert_eq!(shown(1_234_000.0), "1.23 ms");
        assert_eq!(amount(Unit::Count, 11.0), "11");
        assert_eq!(amount(Unit::Count, 4.0 / 3.0), "1.33");
    }
}
