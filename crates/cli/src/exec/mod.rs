//! `lockwork exec`: running a command under a lock, and never without it.
//!
//! Three processes, so that none can be killed or frozen without another one noticing:
//!
//! ```text
//!    exec        takes the lock, keeps it, releases it           supervise.rs
//!     └ guardian   watches exec and the clock, ends the command    guardian/
//!        └ runner    becomes the command, in a group of its own      runner.rs
//! ```
//!
//! The later two are this very program, started again with a hidden first argument. Orders go down
//! one pipe and news come up another: `wire.rs`. Why it is so: `docs/decisions/0009`.

mod after;
mod descriptors;
mod group;
mod guardian;
mod moment;
mod parent;
mod pipe;
mod runner;
mod signals;
mod stage;
mod start;
mod supervise;
mod take;
mod terminal;
mod wire;

pub(crate) use stage::{later_stage, this_program};

use crate::{args::Exec, exit, show};
use lockwork::{Registry, Result, Scope};
use signals::Signals;
use take::Taken;

/// Takes the lock, runs the command, gives the lock back. The exit code.
pub(crate) async fn run(registry: &Registry, args: Exec) -> Result<u8> {
    let mut signals = match Signals::listen(signals::PASSED_ON) {
        Ok(signals) => signals,
        Err(error) => return Ok(failed("signals cannot be listened to", &error)),
    };
    let (locks, guard) = match take::take(registry, &args, &mut signals).await? {
        Taken::Held(locks, guard) => (locks, guard),
        Taken::Busy => {
            show::say(format_args!("{} was not free in time", args.name));
            return Ok(exit::BUSY);
        }
        Taken::Interrupted(signal) => return Ok(signals::code(signal)),
    };
    if locks.info().scope == Scope::Process {
        show::say("these locks hold inside one process only: nobody else respects this one");
    }
    let child = match start::guardian(&args, &guard) {
        Ok(child) => child,
        Err(error) => {
            let code = failed("the guardian cannot be started", &error);
            return Ok(after::release(guard, code, false).await);
        }
    };
    let end = supervise::supervise(child, &guard, &mut signals).await;
    Ok(after::settle(guard, end).await)
}

fn failed(what: &str, error: &std::io::Error) -> u8 {
    show::say(format_args!("{what}: {error}"));
    exit::SYSTEM
}
