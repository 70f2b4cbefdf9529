//! One data directory that all servers of a process are copies of: making one
//! takes `initdb` a second, copying it a tenth of that.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::account::Account;
use crate::home;
use crate::problem::Outcome;
use crate::run;
use crate::site::Site;

use super::setup;

/// How long copying may take on a busy machine.
const COPY: Duration = Duration::from_secs(60);

/// Makes the data directory of a site from the template, which is made first
/// if nobody did yet.
pub(super) fn copy_to(site: &Site) -> Outcome {
    static TEMPLATE: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| make(site.account)).clone()?;
    let mut cp = site.account.command("cp");
    cp.arg("-a").arg(template).arg(setup::data(site));
    run::answer(&mut cp, COPY).map(drop)
}

fn make(account: Account) -> Outcome<PathBuf> {
    let site = Site {
        directory: home::directory("template", &account)?,
        account,
        port: 0,
    };
    setup::make(&site)?;
    Ok(setup::data(&site))
}
