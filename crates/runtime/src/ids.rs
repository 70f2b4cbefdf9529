//! Names that nobody else draws.

use lockwork_core::workflow::{InstanceId, StimulusHash};
use rand::RngExt;

/// What an instance is called after may be long, and whatever is made in it is called after the instance.
const READABLE: usize = 128;

/// The instance that is called after `name`: always the same.
pub(crate) fn instance(name: &str) -> Option<InstanceId> {
    if name.len() <= READABLE {
        return InstanceId::new(name).ok();
    }
    let short = StimulusHash::of("Instance", &name.into(), None).ok()?;
    InstanceId::new(&short.to_string()).ok()
}

/// 128 bits of chance, in hexadecimal.
pub(crate) fn random() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}
