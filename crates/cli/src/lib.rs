#![doc = include_str!("../README.md")]
// What only `exec` needs.
#![cfg_attr(not(unix), allow(dead_code))]

mod args;
mod connect;
mod doctor;
#[cfg(unix)]
mod exec;
mod exit;
mod gc;
mod holders;
mod show;
mod time;
mod trace;

use args::{Cli, Verb};
use lockwork::{Registry, Result};
use std::process::ExitCode;

/// Does what the arguments of this process say, with the backends of `registry`.
///
/// Call it first thing in `main` and return what it returns: `exec` starts this very program again
/// for its guardian, and those copies end up in here too.
#[must_use]
pub fn main(registry: Registry) -> ExitCode {
    #[cfg(unix)]
    if let Some(code) = exec::later_stage() {
        return code;
    }
    match args::parse(std::env::args_os().collect()) {
        Ok(cli) => carry_out(&registry, cli).into(),
        Err(code) => code.into(),
    }
}

fn carry_out(registry: &Registry, cli: Cli) -> u8 {
    trace::start(cli.verbose);
    // One thread: what `exec` starts must be started by a thread that stays, the first one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            show::say(format_args!("the system gave no event queue: {error}"));
            return exit::SYSTEM;
        }
    };
    let done = runtime.block_on(async {
        match cli.verb {
            Verb::Exec(args) => exec(registry, args).await,
            Verb::Holders(args) => holders::run(registry, args).await,
            Verb::Locks(args::LocksVerb::Gc(args)) => gc::run(registry, args).await,
            Verb::Doctor(args) => doctor::run(registry, args).await,
        }
    });
    runtime.shutdown_background();
    done.unwrap_or_else(|error| {
        show::say(exit::sentence(&error));
        exit::code(&error)
    })
}

#[cfg(unix)]
async fn exec(registry: &Registry, args: args::Exec) -> Result<u8> {
    exec::run(registry, args).await
}

#[cfg(not(unix))]
async fn exec(_: &Registry, _: args::Exec) -> Result<u8> {
    Err(lockwork::Error::new(
        lockwork::ErrorKind::Unsupported,
        "exec needs a Unix system: take the lock inside your program instead",
    ))
}
