//! The Azurite of `up`: Azure's Blob Storage, emulated. When its package is
//! fetched is said here; how that is done, and how it is started, is in
//! `lockwork_servers`.

use lockwork_servers::azurite::{package, setup};

use crate::outcome::Outcome;
use crate::services::list::Service;
use crate::services::progress;
use crate::services::url;

/// One that keeps nothing on disk.
pub(crate) const ALONE: Service = Service {
    name: "azurite",
    group: "azurite",
    container: "azurite",
    variable: "LOCKWORK_AZURE_URL",
    needs: None,
    inside: 10000,
    url: url::azurite,
    programs: setup::NEEDS,
    fetch: Some(fetch),
    kind: setup::KIND,
    // It has no file to be told anything by.
    prepare: |_, _| Ok(false),
    command: |site| Ok(setup::command(site, setup::Keeps::Nothing)?),
    join: None,
};

fn fetch() -> Outcome {
    if package::find().is_some() {
        return Ok(());
    }
    progress::step("azurite: fetching its package", package::LIMIT, || {
        package::get()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_compose_has_the_same_version_and_options() {
        let file = include_str!("../../../../docker-compose.yml");
        let (_, there) = file.split_once("\n  azurite:\n").unwrap();
        assert!(there.contains(&format!("azurite:{}\n", package::VERSION)));
        for option in setup::OPTIONS.iter().chain([&setup::FORGETFUL]) {
            assert!(there.contains(&format!("      - {option}\n")));
        }
        assert!(there.contains(&format!("127.0.0.1::{}", ALONE.inside)));
    }
}
