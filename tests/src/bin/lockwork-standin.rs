//! The `lockwork` command with the stand-in's backends besides: for its tests, and an example of a
//! command for backends of one's own.

use lockwork_conformance::standin;
use std::process::ExitCode;

fn main() -> ExitCode {
    let registry = lockwork::registry()
        .with(standin::LEASE)
        .with(standin::SESSION);
    lockwork_cli::main(registry)
}
