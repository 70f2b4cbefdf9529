//! Tables: a title in bold, and columns that stand under each other.

use crate::show;

/// Prints a table.
pub(crate) fn print<const N: usize>(titles: [&str; N], rows: &[[String; N]]) {
    for (number, line) in lines(titles, rows).iter().enumerate() {
        match number {
            0 => show::print(show::bold(line)),
            _ => show::print(line),
        }
    }
}

/// Its lines, the titles first.
pub(crate) fn lines<const N: usize>(titles: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let titles = titles.map(str::to_owned);
    let all: Vec<_> = std::iter::once(&titles).chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let line = |row: &&[String; N]| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a", "b"], ["longer", "c"]].map(|row| row.map(str::to_owned));
        let lines = lines(["ONE", "TWO"], &rows);
        assert_eq!(lines, ["ONE     TWO", "a       b", "longer  c"]);
    }
}
