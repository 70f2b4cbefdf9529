//! How many instances of a workflow may run at once: a key, of which the store lets one run.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use lockwork_flow::{Activation, Definition};

/// The key of an instance, if it must not run beside others.
pub(crate) fn key(definition: &Definition, correlation: Option<&str>) -> Result<Option<String>> {
    let correlated = || {
        let message = "of this workflow, one may run for each correlation: say which one this is";
        let missing = || Error::new(ErrorKind::Invalid, message).with("definition", &definition.id);
        correlation.ok_or_else(missing)
    };
    Ok(match definition.options.activation {
        Activation::Any => None,
        Activation::Single => Some(format!("definition:{}", definition.id)),
        Activation::Correlation => Some(format!("correlation:{}", correlated()?)),
        Activation::SingleCorrelation => {
            let correlation = correlated()?;
            // Ids have no line breaks, so no other two make the same.
            Some(format!(
                "definition:{}\ncorrelation:{correlation}",
                definition.id
            ))
        }
    })
}
