//! The stand-in for SQL Server as a process of its own: it says where it listens, and ends when its
//! standard input does, or after SHUTDOWN.

use lockwork_conformance::sqlserver::{Settings, StandIn};
use std::{io::Read, process::ExitCode};

fn main() -> ExitCode {
    let settings = match Settings::from_arguments(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    let server = StandIn::start(settings);
    println!("listening on {}", server.address());
    std::thread::spawn(|| {
        // Until whoever started this is gone as well.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    server.wait();
    ExitCode::SUCCESS
}
