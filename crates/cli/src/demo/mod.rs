//! `lockwork demo cluster`: real nodes share real work, one of them is killed, and nothing is lost or done twice.
//!
//! ```text
//!    run            where, and that nothing is left behind       place.rs, fleet.rs
//!     └ script        what happens, in which order                 script.rs, orders.rs
//!        ├ board         who is at what, from what nodes tell         board.rs, listen.rs
//!        ├ screen        how it is shown                              screen.rs
//!        └ proof         whether each order was done once, by journals   proof.rs
//! ```

mod board;
mod fleet;
mod listen;
mod orders;
mod place;
mod proof;
mod screen;
mod script;
mod summary;

use crate::{args::DemoCluster, exit::Ended, node::Signals};
use fleet::Fleet;
use lockwork::Registry;
use place::Place;
use screen::Screen;

/// Ends with 0 if everything was done once.
pub(crate) async fn run(registry: &Registry, args: DemoCluster) -> Ended {
    // Before there is anything that a signal could leave behind.
    let mut signals = Signals::listen()?;
    let place = Place::of(registry, &args).await?;
    let mut fleet = Fleet::default();
    let mut screen = Screen::new(args.json);
    let done = tokio::select! {
        done = script::play(&args, &place, &mut fleet, &mut screen) => done,
        number = signals.next() => {
            screen.event("interrupted: the nodes are ended");
            Ok(u8::try_from(128 + number).unwrap_or(u8::MAX))
        }
    };
    fleet.end().await;
    done
}
