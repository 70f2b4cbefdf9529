//! What the operator asked for.

use crate::{cell::Cell, cells};
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
cargo xtask bench [CELL…] [--rounds N] [--json FILE|-] [--strict] [--list]

  CELL             a cell, or a group such as `memory`; all of them if none is named
  --rounds N       how often subject and floor are measured by turns (15)
  --json FILE|-    also one JSON line for each cell; with `-`, on standard output instead of the table
  --strict         exit code 1 if a bar is not met
  --list           the cells there are, and what each says";

/// How often subject and floor are measured by turns, unless said otherwise. Odd, so that the
/// median is a round that happened.
const ROUNDS: usize = 15;

pub(crate) struct Args {
    pub(crate) cells: Vec<&'static Cell>,
    pub(crate) rounds: usize,
    pub(crate) json: Option<Json>,
    pub(crate) strict: bool,
    pub(crate) list: bool,
    pub(crate) help: bool,
}

/// Where the JSON lines go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Stdout,
    File(PathBuf),
}

impl Args {
    /// Reads the words of a command line; a sentence says what is wrong with them.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            cells: Vec::new(),
            rounds: ROUNDS,
            json: None,
            strict: false,
            list: false,
            help: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => args.rounds = rounds(words.next())?,
                "--json" => args.json = Some(json(words.next())?),
                "--strict" => args.strict = true,
                "--list" => args.list = true,
                "--help" | "-h" => args.help = true,
                option if option.starts_with('-') => {
                    return Err(format!("There is no option `{option}`."));
                }
                name => args.cells.extend(named(name)?),
            }
        }
        if args.cells.is_empty() {
            args.cells = cells::all().collect();
        }
        Ok(args)
    }
}

fn rounds(word: Option<String>) -> Result<usize, String> {
    word.and_then(|word| word.parse().ok())
        .filter(|rounds| *rounds > 0)
        .ok_or_else(|| "`--rounds` needs a number from 1 on.".to_owned())
}

fn json(word: Option<String>) -> Result<Json, String> {
    match word.as_deref() {
        None => Err("`--json` needs a file to write, or `-`.".to_owned()),
        Some("-") => Ok(Json::Stdout),
        Some(path) => Ok(Json::File(path.into())),
    }
}

/// The cell called `name`, or all of the group called so.
fn named(name: &str) -> Result<Vec<&'static Cell>, String> {
    let is_meant = |cell: &&Cell| cell.name == name || cell.group() == name;
    let found: Vec<_> = cells::all().filter(is_meant).collect();
    if found.is_empty() {
        return Err(format!(
            "There is no cell and no group `{name}`; `--list` says which there are."
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        Args::parse(line.split_whitespace().map(str::to_owned))
    }

    fn names(args: &Args) -> Vec<&str> {
        args.cells.iter().map(|cell| cell.name).collect()
    }

    #[test]
    fn no_name_means_every_cell() {
        assert_eq!(parse("").unwrap().cells.len(), cells::all().count());
    }

    #[test]
    fn a_name_means_that_cell_and_not_one_that_begins_like_it() {
        let args = parse("memory/uncontended").unwrap();
        assert_eq!(names(&args), ["memory/uncontended"]);
    }

    #[test]
    fn a_group_means_all_its_cells() {
        let args = parse("engine").unwrap();
        assert_eq!(names(&args), ["engine/shield", "engine/keeper-hop"]);
    }

    #[test]
    fn options_may_stand_among_names() {
        let args = parse("--rounds 3 engine --json - --strict").unwrap();
        assert_eq!((args.rounds, args.strict), (3, true));
        assert_eq!(args.json, Some(Json::Stdout));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--rounds 0", "--rounds", "--json", "--fast", "memry"] {
            assert!(parse(line).is_err(), "{line} was taken");
        }
    }
}
