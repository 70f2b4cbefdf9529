//! The PostgreSQL server of `up`: when its data directory is made. How it is
//! set up and started is in `lockwork_servers`.

use std::process::Command;

use lockwork_servers::postgres::setup;
use lockwork_servers::site::Site;

use crate::outcome::Outcome;
use crate::services::progress;

/// Makes the data directory, unless there is one.
pub(crate) fn prepare(site: &Site, _: Option<u16>) -> Outcome<bool> {
    if setup::is_made(site) {
        return Ok(false);
    }
    progress::step("postgres: making a data directory", setup::INIT, || {
        Ok(setup::make(site)?)
    })?;
    Ok(true)
}

/// The server in the foreground.
pub(crate) fn command(site: &Site) -> Outcome<Command> {
    Ok(setup::command(site)?)
}
