//! What does lockwork cost? `cargo xtask bench` answers with a table.
//!
//! Each row is a *cell*: a *subject*, and where there is one, a *floor*: the least that could do
//! the same here, measured in the same run, so that the ratio means something on any
//! machine. To add a cell, add it to a table in [`cells`]; [`cell`] says what it consists of.
//!
//! Exit code 0 means measured, 1 that something could not be, or with `--strict` that a bar was
//! not met, and 2 that the command line made no sense.

mod args;
mod cell;
mod cells;
mod harness;
mod paint;
mod probe;
mod process;
mod report;
mod stats;

use args::{Args, Json};
use cell::Outcome;
use harness::Measured;
use std::{io::Write, process::ExitCode};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(played) = process::role(&words) {
        return match played {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&*error),
        };
    }
    let args = match Args::parse(words) {
        Ok(args) => args,
        Err(sentence) => {
            eprintln!("{sentence}\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&*error),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("{} {error}", paint::stderr().red("bench:"));
    ExitCode::FAILURE
}

/// Whether the run was good: `false` is a bar not met, where that matters.
fn run(args: &Args) -> Outcome<bool> {
    if args.help {
        println!("{}", args::USAGE);
        return Ok(true);
    }
    if args.list {
        print!("{}", report::list(&args.cells));
        return Ok(true);
    }
    let mut host = probe::host()?;
    host.servers = cells::servers(&args.cells)?;
    eprintln!("{host}");
    let measured = args
        .cells
        .iter()
        .map(|cell| {
            report::begun(cell);
            let measured = harness::measure(cell, args.rounds)
                .inspect_err(|_| eprintln!("failed"))
                .map_err(|error| format!("{} could not be measured: {error}", cell.name))?;
            report::ended(&measured);
            Ok(measured)
        })
        .collect::<Outcome<Vec<Measured>>>()?;
    let table = format!("{host}\n\n{}", report::table(&measured));
    match &args.json {
        None => print!("{table}"),
        // Standard output is for the program that reads it; the table is for people.
        Some(Json::Stdout) => {
            eprint!("{table}");
            print!("{}", report::json(&measured, &host));
        }
        Some(Json::File(path)) => {
            print!("{table}");
            std::fs::File::create(path)
                .and_then(|mut file| file.write_all(report::json(&measured, &host).as_bytes()))
                .map_err(|error| format!("{} could not be written: {error}", path.display()))?;
        }
    }
    Ok(!args.strict || measured.iter().all(|cell| cell.met() != Some(false)))
}
