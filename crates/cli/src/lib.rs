#![doc = include_str!("../README.md")]
// What only `exec` needs.
#![cfg_attr(not(unix), allow(dead_code))]

mod args;
mod bench;
mod breaking;
mod client;
mod connect;
mod demo;
mod doctor;
#[cfg(unix)]
mod exec;
mod exit;
mod gc;
mod holders;
mod keys;
mod listing;
mod manual;
mod node;
mod reach;
mod show;
mod table;
mod time;
mod trace;

use args::{Cli, LocksVerb, Verb};
use exit::Ended;
use lockwork::{Registry, Result};
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

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
    let _tracing = trace::start(cli.verbose);
    let runtime = match event_loop(&cli.verb) {
        Ok(runtime) => runtime,
        Err(error) => {
            show::say(format_args!("the system gave no event queue: {error}"));
            return exit::SYSTEM;
        }
    };
    let done = runtime.block_on(obey(registry, cli.verb));
    runtime.shutdown_background();
    done.unwrap_or_else(|end| {
        show::say(end.sentence);
        end.code
    })
}

/// One thread, for what `exec` starts must be started by a thread that stays, the first one. A node has more, and so has who measures many.
fn event_loop(verb: &Verb) -> std::io::Result<Runtime> {
    let mut builder = match verb {
        Verb::Dev(_) | Verb::Serve(_) | Verb::Bench(_) => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    builder.enable_all().build()
}

async fn obey(registry: &Registry, verb: Verb) -> Ended {
    Ok(match verb {
        Verb::Exec(args) => exec(registry, args).await?,
        Verb::Holders(args) | Verb::Locks(LocksVerb::Holders(args)) => {
            holders::run(registry, args).await?
        }
        Verb::Locks(LocksVerb::Ls(args)) => listing::run(registry, args).await?,
        Verb::Locks(LocksVerb::Break(args)) => breaking::run(registry, args).await?,
        Verb::Locks(LocksVerb::Gc(args)) => gc::run(registry, args).await?,
        Verb::Doctor(args) => doctor::run(registry, args).await?,
        Verb::Bench(args) => bench::run(registry, args).await?,
        Verb::Dev(args) => node::dev::run(registry, args).await?,
        Verb::Serve(args) => node::serve::run(registry, args).await?,
        Verb::Demo(args::Demo::Cluster(args)) => demo::run(registry, args).await?,
        Verb::Keys(args) => keys::run(args),
        Verb::Definitions(args) => client::definitions(args).await?,
        Verb::Start(args) => client::start(args).await?,
        Verb::Run(args) => client::run(args).await?,
        Verb::Signal(args) => client::signal(args).await?,
        Verb::Instances(args) => client::instances(args).await?,
        Verb::Nodes(args) => client::nodes(args).await?,
        Verb::Queue(args) => client::queue(args).await?,
        Verb::Timers(args) => client::timers(args).await?,
        Verb::Completions { shell } => manual::completions(shell),
        Verb::Man(args) => manual::man(args)?,
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
