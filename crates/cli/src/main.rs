//! The `lockwork` command, with the backends of the `lockwork` crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockwork_cli::main(lockwork::registry())
}
