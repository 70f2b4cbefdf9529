//! Requests on routes that workflows name: which there are, what a request brings, and what is answered.

pub(crate) mod answer;
pub(crate) mod request;
pub(crate) mod table;

use crate::routes::{Access, OPERATIONS};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use lockwork_flow::Route;

/// Where routes of workflows are, unless somebody says otherwise.
pub(crate) const BASE: &str = "/workflows";

/// Whether routes of workflows can be there.
pub(crate) fn check_base(base: &str) -> Result<()> {
    let route = base.parse::<Route>().ok();
    let plain = route.is_some_and(|route| route.parameters().next().is_none());
    let first = |path: &str| path.split('/').nth(1).map(str::to_owned);
    let mut others = OPERATIONS
        .iter()
        .filter(|one| one.access != Access::Declared);
    match plain && !others.any(|other| first(other.path) == first(base)) {
        true => Ok(()),
        false => {
            let message = "routes of workflows are below a path of their own, such as `/workflows`";
            Err(Error::new(ErrorKind::Invalid, message).with("found", base))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_workflows_have_a_place_of_their_own() {
        for base in [BASE, "/hooks/in"] {
            check_base(base).unwrap();
        }
        for base in [
            "",
            "/",
            "hooks",
            "/hooks/",
            "/{a}",
            "/v1",
            "/v1/hooks",
            "/metrics",
        ] {
            assert!(check_base(base).is_err(), "{base}");
        }
    }
}
